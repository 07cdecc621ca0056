/** Which pods a Job needs more, and which it has too many of: at one time it makes some or removes some, never both. */
import type { Pod } from '../../../../client/kinds.ts'
import { leastAdvanced } from '../../../pods/deletion-order.ts'
import { isTerminating } from '../../../pods/phase.ts'
import { firstMissing, union, withIndexes } from '../indexes.ts'
import { completionIndexOf, isIndexed, replacesOnlyFailed } from '../pods.ts'
import { type BackOff, remainingMs } from '../policies/back-off.ts'
import { dueIndexes, hasLimitPerIndex } from '../policies/index-failures.ts'
import { completionsOf, indexesOfPods, isSuspended, type JobState } from './state.ts'

export interface PodChanges {
  readonly remove: readonly Pod[]
  /** One for each pod: the index that it gets, undefined where pods have none. */
  readonly create: readonly (number | undefined)[]
  /** In how many ms more pods may be made; 0 where nothing waits. */
  readonly againMs: number
}

/** So many are made or removed at a time, that one Job does not hold up all others. */
const mostAtOnce = 500

/** `now`: milliseconds. */
export function podChanges(state: JobState, backOff: BackOff, now: number): PodChanges {
  const { job, active, terminating } = state
  if (isSuspended(job)) return { remove: [...active], create: [], againMs: 0 }
  const wanted = wantedActive(state)
  const remove = podsToRemove(state, Math.max(0, active.length - wanted)).slice(0, mostAtOnce)
  if (remove.length > 0) return { remove, create: [], againMs: 0 }
  const missing = Math.min(wanted - active.length - (replacesOnlyFailed(job) ? terminating : 0), mostAtOnce)
  if (missing <= 0) return { remove, create: [], againMs: 0 }
  const againMs = hasLimitPerIndex(job) ? 0 : remainingMs(backOff, now)
  if (againMs > 0) return { remove, create: [], againMs }
  if (!isIndexed(job)) return { remove, create: new Array<undefined>(missing).fill(undefined), againMs: 0 }
  const pending = pendingIndexes(state, missing)
  const due = hasLimitPerIndex(job)
    ? dueIndexes(pending, state.indexes.replaced, now)
    : { indexes: pending, againMs: 0 }
  return { remove, create: due.indexes, againMs: due.againMs }
}

/**
 * How many pods should run: no more than are left to succeed. Without completions none is begun after the first
 * success.
 */
function wantedActive({ job, active, succeeded }: JobState): number {
  const { completions, parallelism = 1 } = job.spec ?? {}
  if (completions === undefined) return succeeded > 0 ? active.length : parallelism
  return Math.max(0, Math.min(completions - succeeded, parallelism))
}

/** Those that have no index of the Job's, or one that another pod has too; then those that have come least far. */
function podsToRemove({ job, active }: JobState, atLeast: number): Pod[] {
  if (!isIndexed(job)) return leastAdvanced(active, atLeast)
  const byIndex = new Map<number, Pod[]>()
  const remove: Pod[] = []
  for (const pod of active) {
    const index = completionIndexOf(pod)
    if (index === undefined || index >= completionsOf(job)) remove.push(pod)
    else byIndex.set(index, [...(byIndex.get(index) ?? []), pod])
  }
  for (const pods of byIndex.values()) if (pods.length > 1) remove.push(...leastAdvanced(pods, pods.length - 1))
  if (remove.length >= atLeast) return remove
  const left = active.filter((pod) => !remove.includes(pod))
  return [...remove, ...leastAdvanced(left, atLeast - remove.length)]
}

function pendingIndexes({ job, pods, active, indexes }: JobState, count: number): number[] {
  const terminating = replacesOnlyFailed(job) ? pods.filter(isTerminating) : []
  const taken = withIndexes(union(indexes.succeeded, indexes.failed ?? []), indexesOfPods([...active, ...terminating]))
  return firstMissing(taken, count, completionsOf(job))
}
