/** Decides which pods a Job creates or deletes: one reconcile does one of both, never both. */
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
  /** The index of each pod to create; undefined unless the Job is Indexed. */
  readonly create: readonly (number | undefined)[]
  /** Time in ms until more pods may be created; 0 if none is delayed. */
  readonly requeueAfterMs: number
}

/** Maximum number of pods created or deleted in one reconcile, so that one Job does not block the others. */
const maxPodChanges = 500

/** `now` is in ms. */
export function podChanges(state: JobState, backOff: BackOff, now: number): PodChanges {
  const { job, active, terminating } = state
  if (isSuspended(job)) return { remove: [...active], create: [], requeueAfterMs: 0 }
  const desired = desiredActive(state)
  const remove = podsToRemove(state, Math.max(0, active.length - desired)).slice(0, maxPodChanges)
  if (remove.length > 0) return { remove, create: [], requeueAfterMs: 0 }
  const missing = Math.min(desired - active.length - (replacesOnlyFailed(job) ? terminating : 0), maxPodChanges)
  if (missing <= 0) return { remove, create: [], requeueAfterMs: 0 }
  const requeueAfterMs = hasLimitPerIndex(job) ? 0 : remainingMs(backOff, now)
  if (requeueAfterMs > 0) return { remove, create: [], requeueAfterMs }
  if (!isIndexed(job)) return { remove, create: new Array<undefined>(missing).fill(undefined), requeueAfterMs: 0 }
  const pending = pendingIndexes(state, missing)
  const due = hasLimitPerIndex(job)
    ? dueIndexes(pending, state.indexes.replaced, now)
    : { indexes: pending, requeueAfterMs: 0 }
  return { remove, create: due.indexes, requeueAfterMs: due.requeueAfterMs }
}

/**
 * The desired number of active pods: at most the remaining completions. Without completions no pod is created after the
 * first success.
 */
function desiredActive({ job, active, succeeded }: JobState): number {
  const { completions, parallelism = 1 } = job.spec ?? {}
  if (completions === undefined) return succeeded > 0 ? active.length : parallelism
  return Math.max(0, Math.min(completions - succeeded, parallelism))
}

/** Pods with an invalid or duplicate index, then the least advanced ones. */
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
  const remaining = active.filter((pod) => !remove.includes(pod))
  return [...remove, ...leastAdvanced(remaining, atLeast - remove.length)]
}

function pendingIndexes({ job, pods, active, indexes }: JobState, count: number): number[] {
  const terminating = replacesOnlyFailed(job) ? pods.filter(isTerminating) : []
  const taken = withIndexes(union(indexes.succeeded, indexes.failed ?? []), indexesOfPods([...active, ...terminating]))
  return firstMissing(taken, count, completionsOf(job))
}
