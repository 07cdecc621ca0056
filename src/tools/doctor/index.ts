/** Examines this machine for what clusters need, and for what killed ones have left. */
import { resolve } from 'node:path'
import { embeddedObstacle, machineObstacle, thisMachine } from '../../cluster/real-node/checks/obstacles.ts'
import { embeddedRuntime } from '../../cluster/real-node/settings/embedded-runtime.ts'
import { reasonOf } from '../../lib/explained-error.ts'
import { freeBytes, kubectlVersion, portUse } from './facts.ts'
import { type Finding, problem } from './finding.ts'
import { leftoverFindings } from './leftovers/index.ts'
import { diskFinding, kubectlFinding, nodeFinding, portFinding, proxyFinding, realNodeFinding } from './machine.ts'

export type { Finding } from './finding.ts'

export interface DoctorOptions {
  /** The port of the API server. */
  readonly port: number
  /** The data directory of the cluster. */
  readonly dataDirectory: string
  /** Removes what is left and surely not in use. */
  readonly fix: boolean
  readonly environment: Readonly<Record<string, string | undefined>>
}

/** Yields what it finds, one part of the machine after the other. Changes nothing unless `fix` is set. */
export async function* examine({ port, dataDirectory, fix, environment }: DoctorOptions): AsyncGenerator<Finding> {
  yield nodeFinding(process.versions.node)
  yield kubectlFinding(await kubectlVersion())
  yield await portUse(port).then(
    (use) => portFinding(port, use),
    (error) => problem(`port ${port} cannot be used: ${reasonOf(error)}`, 'choose another one with --secure-port'),
  )
  const folder = resolve(dataDirectory)
  yield diskFinding(folder, freeBytes(folder))
  yield proxyFinding(environment)
  const machine = thisMachine()
  yield realNodeFinding(machineObstacle(machine) ?? embeddedObstacle(machine, embeddedRuntime(folder)))
  yield* leftoverFindings({ fix, isRoot: machine.userId === 0 })
}
