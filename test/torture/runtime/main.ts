/** Tortures in the namespaces of this process: `main.ts runtime|node FOLDER KILLS PODS SEED`. Prints faults. */
import { setTimeout as delay } from 'node:timers/promises'
import { reapOrphans } from '../../../src/runtime/host/orphans.ts'
import { prepareNodeNamespaces } from '../../support/node-namespaces.ts'
import { random as randomOf } from '../../support/random.ts'
import { coveredByNode, tortureOfNode } from './node-process.ts'
import type { PodPlan } from './pod-plan.ts'
import { tortureOfRuntime } from './runtime-process.ts'
import { leftovers, tracesOf } from './traces.ts'

const [target = 'runtime', folder = '', kills = '50', pods = '20', seed = '1'] = process.argv.slice(2)
const maxExitCode = 120
/** A terminated process releases its pods in order; a killed one does not. */
const signals: readonly NodeJS.Signals[] = ['SIGKILL', 'SIGKILL', 'SIGKILL', 'SIGTERM']

async function main(): Promise<void> {
  const isNode = target === 'node'
  prepareNodeNamespaces(isNode ? coveredByNode : [])
  const stopReaping = reapOrphans()
  const random = randomOf(Number(seed))
  const tortured = await (isNode ? tortureOfNode(folder) : tortureOfRuntime(folder))
  await tortured.start()
  const before = tracesOf(tortured)
  const faults: string[] = []
  const ends = { isOver: false, pods: 0 }
  const plan = (name: string): PodPlan => ({
    name,
    lines: 100 + Math.floor(random() * 2_000),
    exitCode: Math.floor(random() * maxExitCode),
  })
  const place = async (index: number): Promise<void> => {
    for (let round = 0; !ends.isOver; round++, ends.pods++)
      faults.push(...(await tortured.runPod(plan(`pod-${index}-${round}`))))
  }
  const places = Promise.all(Array.from({ length: Number(pods) }, (_, index) => place(index)))
  for (let kill = 0; kill < Number(kills); kill++) {
    await delay(500 + random() * 2_500)
    await tortured.restart(signals[Math.floor(random() * signals.length)]!)
  }
  ends.isOver = true
  await places
  faults.push(...(await leftovers(tortured, before)))
  await tortured.end('SIGTERM')
  stopReaping()
  for (const fault of faults) console.log(fault)
  console.log(`${kills} kills under ${ends.pods} pods: ${faults.length} faults (seed ${seed})`)
  process.exitCode = faults.length > 0 ? 1 : 0
}

await main()
