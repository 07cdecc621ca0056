/** Tortures in the namespaces of this process; its argument is EtcdTortureRun as JSON. Prints a line for each round. */
import { reapOrphans } from '../../../src/runtime/host/orphans.ts'
import { prepareNodeNamespaces } from '../../support/node-namespaces.ts'
import { random as randomOf } from '../../support/random.ts'
import { describe, showFaults } from '../api/report.ts'
import type { FaultName } from './faults.ts'
import type { EtcdTortureRun } from './run.ts'
import { EtcdTorture } from './torture.ts'

const { folder, faults, kinds, writers, recoveryMs, seed } = JSON.parse(process.argv[2] ?? '{}') as EtcdTortureRun & {
  readonly folder: string
}
/** Faults of a round; the observations of one are checked together. */
const roundSize = 10

async function main(): Promise<void> {
  prepareNodeNamespaces(['/run/netns'])
  const stopReaping = reapOrphans()
  const random = randomOf(seed)
  const plan: FaultName[] = Array.from({ length: faults }, () => kinds[Math.floor(random() * kinds.length)]!)
  const torture = new EtcdTorture({ folder, writers, recoveryMs, random })
  await torture.begin()
  let isBroken = false
  for (let at = 0; at < plan.length && !isBroken; at += roundSize) {
    const some = plan.slice(at, at + roundSize)
    const compact = (at / roundSize) % 2 === 1
    const report = await torture.run(some, compact)
    const recovery = `well again within ${(report.slowestRecoveryMs / 1000).toFixed(1)} s`
    console.log(
      `${some.join(' ')}${compact ? ', compacted' : ''}: ${recovery}; ${report.excused} failed meanwhile; ` +
        describe(report),
    )
    isBroken = report.faults.length > 0
    if (isBroken) showFaults(report, folder)
  }
  await torture.end()
  stopReaping()
  console.log(`seed ${seed}: ${isBroken ? 'a promise was broken' : 'no promise was broken'}`)
  process.exitCode = isBroken ? 1 : 0
}

await main()
