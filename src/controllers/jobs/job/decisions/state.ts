/** Summarizes a Job and its pods: active, ended, and already counted ones. */
import type { Job, Pod } from '../../../../client/kinds.ts'
import { isActive, isReady, isTerminating } from '../../../pods/phase.ts'
import type { JobCondition } from '../../finished.ts'
import { countOf, hasIndex, type Indexes, noIndexes, parseIndexes, withIndexes } from '../indexes.ts'
import { completionIndexOf, hasFailed, hasSucceeded, isIndexed, isTracked } from '../pods.ts'
import { failureVerdict } from '../policies/failure-policy.ts'
import { failedIndexes, hasLimitPerIndex, podsToReplace } from '../policies/index-failures.ts'

const ownName = 'kubernetes.io/job-controller'

export interface JobState {
  readonly job: Job
  /** All of its pods; those without the tracking finalizer are counted. */
  readonly pods: readonly Pod[]
  readonly active: readonly Pod[]
  readonly ready: number
  readonly terminating: number
  /** Uids of pods that the status lists but has not counted. */
  readonly uncounted: { readonly succeeded: ReadonlySet<string>; readonly failed: ReadonlySet<string> }
  /** Ended pods that the status neither lists nor has counted. */
  readonly ended: { readonly succeeded: readonly Pod[]; readonly failed: readonly Pod[] }
  /** Succeeded pods, counted or not; for an Indexed Job the succeeded indexes. */
  readonly succeeded: number
  /** Failed pods, counted or not, except those that the failure policy ignores. */
  readonly failed: number
  readonly indexes: JobIndexes
}

/** Empty unless the Job is Indexed. */
export interface JobIndexes {
  /** Succeeded indexes in the status. */
  readonly before: Indexes
  readonly succeeded: Indexes
  /** Defined if the Job has a back-off limit per index. */
  readonly failed?: Indexes
  /** Failed pods that are retained until their index has a replacement. */
  readonly replaced: ReadonlyMap<number, Pod>
}

export const completionsOf = ({ spec }: Job): number => spec?.completions ?? 0
const none: readonly JobCondition[] = []
export const conditionsOf = ({ status }: Job): readonly JobCondition[] => status?.conditions ?? none
/** Returns true if another controller manages the Job (KEP-4368). */
export const isManagedExternally = ({ spec }: Job): boolean => (spec?.managedBy ?? ownName) !== ownName
export const isSuspended = ({ spec }: Job): boolean => spec?.suspend ?? false

/** Returns true if a pod's index is valid, or the Job is not Indexed. */
export function hasValidIndex(pod: Pod, job: Job): boolean {
  const index = completionIndexOf(pod)
  return !isIndexed(job) || (index !== undefined && index < completionsOf(job))
}

export function stateOf(job: Job, pods: readonly Pod[]): JobState {
  const listed = job.status?.uncountedTerminatedPods
  const uncounted = { succeeded: new Set(listed?.succeeded), failed: new Set(listed?.failed) }
  const valid = pods.filter((pod) => isTracked(pod) && hasValidIndex(pod, job))
  const isNew = ({ metadata }: Pod, known: ReadonlySet<string>): boolean => !known.has(metadata.uid ?? '')
  const ended = {
    succeeded: valid.filter((pod) => hasSucceeded(pod) && isNew(pod, uncounted.succeeded)),
    failed: valid.filter((pod) => hasFailed(pod, job) && isNew(pod, uncounted.failed)),
  }
  const active = pods.filter(isActive)
  const indexes = indexesOf(job, valid, active)
  return {
    job,
    pods,
    active,
    ready: active.filter(isReady).length,
    terminating: pods.filter(isTerminating).length,
    uncounted,
    ended,
    succeeded: isIndexed(job)
      ? countOf(indexes.succeeded)
      : (job.status?.succeeded ?? 0) + uncounted.succeeded.size + ended.succeeded.length,
    failed:
      (job.status?.failed ?? 0) +
      uncounted.failed.size +
      ended.failed.filter((pod) => failureVerdict(job, pod).counts).length,
    indexes,
  }
}

/** `valid`: uncounted pods with a valid index. */
function indexesOf(job: Job, valid: readonly Pod[], activePods: readonly Pod[]): JobIndexes {
  if (!isIndexed(job)) return { before: noIndexes, succeeded: noIndexes, replaced: new Map() }
  const before = parseIndexes(job.status?.completedIndexes, completionsOf(job))
  const succeeded = withIndexes(before, indexesOfPods(valid.filter(hasSucceeded)))
  if (!hasLimitPerIndex(job)) return { before, succeeded, replaced: new Map() }
  const failed = failedIndexes(job, valid)
  const active = withIndexes(noIndexes, indexesOfPods(activePods))
  return { before, succeeded, failed, replaced: podsToReplace(job, valid, { succeeded, failed, active }) }
}

export const indexesOfPods = (pods: readonly Pod[]): number[] =>
  pods.map(completionIndexOf).filter((index) => index !== undefined)

/** Returns true if a pod is retained because its index has no replacement yet. */
export const awaitsReplacement = (pod: Pod, { replaced }: JobIndexes): boolean => {
  const index = completionIndexOf(pod)
  return index !== undefined && replaced.get(index)?.metadata.uid === pod.metadata.uid
}

/** Returns true if the pod's index is not yet in the status as succeeded. */
export const isNewlySucceeded = (pod: Pod, { before }: JobIndexes): boolean => {
  const index = completionIndexOf(pod)
  return index !== undefined && !hasIndex(before, index)
}
