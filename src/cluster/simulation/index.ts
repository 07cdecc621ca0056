/** The simulated nodes of a cluster, in this thread or on one of their own. */
import { randomBytes } from 'node:crypto'
import type { TokenUser } from '../../apiserver/authentication/tokens/static-tokens.ts'
import { Connection } from '../../client/connection/connection.ts'
import { bearerToken } from '../../client/connection/credentials/credentials.ts'
import { configMaps } from '../../client/kinds.ts'
import { RestClient } from '../../client/rest/rest-client.ts'
import type { Access } from '../../kubeconfig/kubeconfig.ts'
import type { NodeGroup, RunningSimulation } from '../../simulation/index.ts'
import type { ServerPlace } from '../controllers/messages.ts'
import type { ClusterPki } from '../pki/pki.ts'
import { simulationUser } from './messages.ts'

/** The simulated nodes that a cluster has. */
export interface SimulatedNodes {
  /** How many; as many as the cluster had before unless said, or one. */
  readonly count?: number
  /** What they are like; as before unless said. */
  readonly groups?: readonly NodeGroup[]
  /** Stages that pods go through, as kwok has them: the text of a file. */
  readonly stages?: string
}

export interface ClusterSimulation {
  /** What the server is told of who simulates. */
  readonly user: TokenUser | undefined
  /** Flags of controllers that a cluster with nodes wants. */
  readonly controllerFlags: Readonly<Record<string, string>>
  /** Begins in the background, when the server serves. Resolves when nodes are there, or cannot be; never rejects. */
  begin(server: ServerPlace, administrator: Access, pki: ClusterPki): Promise<void>
  stop(): Promise<void>
}

export interface ClusterSimulationOptions {
  readonly nodes: SimulatedNodes | undefined
  /** Whether the cluster may have had nodes before. */
  readonly hasPast: boolean
  readonly onThread: boolean
  readonly log: (line: string) => void
}

/** Room for 32,768 nodes. */
const clusterRange = '10.128.0.0/9'
const nodeFlags = { 'allocate-node-cidrs': 'true', 'cluster-cidr': clusterRange, 'enable-hostpath-provisioner': 'true' }

/** Nothing is loaded, and nobody let in, where no nodes are wanted and there have never been any. */
export function clusterSimulation({ nodes, hasPast, onThread, log }: ClusterSimulationOptions): ClusterSimulation {
  const isWanted = nodes !== undefined && nodes.count !== 0
  if (!isWanted && !hasPast)
    return { user: undefined, controllerFlags: {}, begin: async () => {}, stop: async () => {} }
  const token = randomBytes(32).toString('base64url')
  const failed = (error: Error): void => log(`nodes are not simulated: ${error.message}`)
  let begun: Promise<RunningSimulation | undefined> | undefined

  async function start(
    server: ServerPlace,
    administrator: Access,
    pki: ClusterPki,
  ): Promise<RunningSimulation | undefined> {
    const { fleetConfigMapOf, runSimulation, upOwner } = await import('../../simulation/index.ts')
    const connection = new Connection(administrator)
    try {
      const client = new RestClient(connection)
      // Nodes of an earlier start go, where none are wanted any more.
      const { namespace, name } = fleetConfigMapOf(upOwner)
      if (!isWanted && !(await client.find(configMaps, namespace, name))) return undefined
      await (await import('./rights.ts')).grantSimulation(client)
    } finally {
      connection.close()
    }
    const kubelet = {
      address: '127.0.0.1',
      tls: await pki.kubeletServer(),
      ca: pki.authority.cert,
      clientCA: pki.authority.cert,
    }
    const options = {
      owner: upOwner,
      fleet: { size: isWanted ? nodes.count : 0, groups: nodes?.groups },
      stages: nodes?.stages,
      kubelet,
    }
    if (onThread)
      return (await import('./thread.ts')).simulationOnThread({ options, server: { ...server, token } }, log)
    return runSimulation(options, { ...server, credentials: bearerToken(token) }, log)
  }

  return {
    user: { token, user: { name: simulationUser, groups: [] } },
    controllerFlags: isWanted ? nodeFlags : {},
    begin(server, administrator, pki) {
      begun = start(server, administrator, pki)
      return begun.then((running) => running?.started).catch(failed)
    },
    stop: async () => (await begun?.catch(() => undefined))?.stop(),
  }
}
