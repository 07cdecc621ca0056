/** Holds what clients saw against the history of all writes. A pure judgement: it asks no server and reads no clock. */
import type { Observation } from '../observation.ts'
import { checkLists } from './check-lists.ts'
import { checkReads } from './check-reads.ts'
import { checkWatches } from './check-watches.ts'
import type { Fault, History } from './history.ts'
import { RevisionClock } from './revision-clock.ts'

/** All broken promises. `start` is a revision that was there before the first observation. */
export function check(history: History, observations: readonly Observation[], start = 0): Fault[] {
  const faults = history.learn(observations)
  const clock = new RevisionClock(start, history.writes, observations)
  const { changes, faults: disorder } = history.changes(observations, clock)
  const watches = checkWatches(history, changes, observations)
  return [
    ...faults,
    ...disorder,
    ...checkLists(history, changes, [...observations, ...watches.initialStates], clock),
    ...checkReads(history, changes, observations, clock),
    ...watches.faults,
  ]
}
