/** Runs rounds of the API torture and prints a line for each, until a promise is broken or the time is over. */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { ApiTorture, type RoundReport } from './torture.ts'

export interface RunOptions {
  readonly rounds: number
  readonly minutes: number
  readonly objects: number
  readonly writers: number
  readonly kills: number
  readonly seconds: number
}

const shownFaults = 10
const evidenceLength = 600

/** Resolves to true if a promise was broken. */
export async function tortureApi({ rounds, minutes, objects, writers, kills, seconds }: RunOptions): Promise<boolean> {
  const deadline = performance.now() + minutes * 60_000
  const torture = await ApiTorture.begin(objects)
  console.log(`torturing a server with ${objects} objects in ${torture.directory}; it is kept if a promise is broken`)
  const sums = { kills: 0, acknowledged: 0, seen: 0 }
  for (let round = 0; round < rounds && performance.now() < deadline; round++) {
    const compact = round % 2 === 1
    const report = await torture.run({ seconds, kills, writers, compact })
    console.log(`round ${round + 1}${compact ? ', compacted' : ''}: ${kills} kills, ${describe(report)}`)
    sums.kills += kills
    sums.acknowledged += report.acknowledged
    sums.seen += report.lists + report.reads + report.events
    if (report.faults.length === 0) continue
    showFaults(report, torture.directory)
    return true
  }
  await torture.end()
  console.log(
    `${sums.kills} kills, ${sums.acknowledged} acknowledged writes, ${sums.seen} responses and events compared ` +
      'with them: no promise was broken',
  )
  return false
}

export const describe = ({
  acknowledged,
  writes,
  lists,
  reads,
  watches,
  events,
  faults,
  slowestFirstListMs,
}: RoundReport): string =>
  `first lists within ${(slowestFirstListMs / 1000).toFixed(1)} s; ${acknowledged} of ${writes} writes ` +
  `acknowledged; seen ${lists} lists, ${reads} reads, ${watches} watches with ${events} events; ${faults.length} ` +
  'faults'

/** Prints one example of each promise first. */
function showFaults({ faults }: RoundReport, directory: string): void {
  const byPromise = Map.groupBy(faults, ({ promise }) => promise)
  const chosen = [...byPromise.values()]
    .flatMap(([first, ...others]) => [first!, ...others.slice(0, 2)])
    .slice(0, shownFaults)
  for (const { promise, evidence } of chosen)
    console.log(`  broken: ${promise}\n    ${evidence.slice(0, evidenceLength)}`)
  writeFileSync(
    join(directory, 'faults.txt'),
    faults.map(({ promise, evidence }) => `${promise}\n    ${evidence}\n`).join(''),
  )
  if (faults.length > chosen.length) console.log(`  and ${faults.length - chosen.length} more`)
  console.log(`  data, server.log and faults.txt are in ${directory}`)
}
