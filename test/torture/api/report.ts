/** The result of a round of torture. */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Fault } from './checker/history.ts'
import type { Target } from './clients/target.ts'

const shownFaults = 10
const evidenceLength = 600

export interface RoundReport {
  readonly writes: number
  readonly acknowledged: number
  readonly lists: number
  readonly reads: number
  readonly watches: number
  readonly events: number
  readonly slowestFirstListMs: number
  readonly faults: readonly Fault[]
}

/** `writes` is the number of writes of the round. */
export function countsOf({ observations, tallies }: Target, writes: number): Omit<RoundReport, 'faults'> {
  let events = 0
  const counts = { list: 0, read: 0, watch: 0, expired: 0 }
  for (const observation of observations) {
    counts[observation.what]++
    if (observation.what === 'watch') events += observation.events.length
  }
  return {
    writes,
    acknowledged: tallies.acknowledged,
    slowestFirstListMs: tallies.slowestFirstListMs,
    lists: counts.list,
    reads: counts.read,
    watches: counts.watch,
    events,
  }
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

/** Prints some faults, one example of each promise first, and writes all to `faults.txt` in the directory. */
export function showFaults({ faults }: RoundReport, directory: string): void {
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
