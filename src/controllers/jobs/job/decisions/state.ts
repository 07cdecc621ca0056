/** What a Job and its pods come to: what runs, what has ended, what of that is counted already. */
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
  /** All of its pods; those whose finalizer has gone are counted. */
  readonly pods: readonly Pod[]
  readonly active: readonly Pod[]
  readonly ready: number
  readonly terminating: number
  /** Uids of pods that the status names, but has not counted. */
  readonly uncounted: { readonly succeeded: ReadonlySet<string>; readonly failed: ReadonlySet<string> }
  /** Pods that have ended, and that the status does not know yet. */
  readonly ended: { readonly succeeded: readonly Pod[]; readonly failed: readonly Pod[] }
  /** All of them, counted or not; of an Indexed Job the indexes that have succeeded. */
  readonly succeeded: number
  /** All of them, counted or not, but for those that its failure policy ignores. */
  readonly failed: number
  readonly indexes: JobIndexes
}

/** Empty but for Indexed Jobs. */
export interface JobIndexes {
  /** As the status has them. */
  readonly before: Indexes
  readonly succeeded: Indexes
  /** Where each index has a limit of its own. */
  readonly failed?: Indexes
  /** The failed pods that stay until their index has another one. */
  readonly replaced: ReadonlyMap<number, Pod>
}

export const completionsOf = ({ spec }: Job): number => spec?.completions ?? 0
const none: readonly JobCondition[] = []
export const conditionsOf = ({ status }: Job): readonly JobCondition[] => status?.conditions ?? none
/** Another controller does all of it (KEP-4368). */
export const isManagedElsewhere = ({ spec }: Job): boolean => (spec?.managedBy ?? ownName) !== ownName
export const isSuspended = ({ spec }: Job): boolean => spec?.suspend ?? false

/** Whether a pod's index is one of the Job's; always where there are no indexes. */
export function hasValidIndex(pod: Pod, job: Job): boolean {
  const index = completionIndexOf(pod)
  return !isIndexed(job) || (index !== undefined && index < completionsOf(job))
}

export function stateOf(job: Job, pods: readonly Pod[]): JobState {
  const named = job.status?.uncountedTerminatedPods
  const uncounted = { succeeded: new Set(named?.succeeded), failed: new Set(named?.failed) }
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

/** `valid`: the pods that are not counted and have an index of the Job's. */
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

/** Whether a pod stays because its index has no other one yet. */
export const awaitsReplacement = (pod: Pod, { replaced }: JobIndexes): boolean => {
  const index = completionIndexOf(pod)
  return index !== undefined && replaced.get(index)?.metadata.uid === pod.metadata.uid
}

/** Whether an index is new among those that have succeeded. */
export const isNewlySucceeded = (pod: Pod, { before }: JobIndexes): boolean => {
  const index = completionIndexOf(pod)
  return index !== undefined && !hasIndex(before, index)
}
