/** Compares the observations of clients with the history of all writes. Pure: uses no server and no clock. */
import type { Observation } from '../observation.ts'
import { checkLists } from './check-lists.ts'
import { checkReads } from './check-reads.ts'
import { checkWatches } from './check-watches.ts'
import type { Fault, History } from './history.ts'
import { RevisionClock } from './revision-clock.ts'

/** Returns all broken promises. `start` is a revision before the first observation. */
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
