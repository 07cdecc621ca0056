/**
 * How a Job's pods are counted so that none is lost or counted twice, whenever the controller may die (KEP-2307): a pod
 * that has ended is first named in the status, then loses its finalizer, and is then counted and named no more. Indexes
 * need no names.
 */
import type { Job, Pod } from '../../../../client/kinds.ts'
import { conditionOf, type JobCondition, withCondition } from '../../finished.ts'
import { countOf, indexesText } from '../indexes.ts'
import { hasFailed, hasSucceeded, isIndexed, isTracked } from '../pods.ts'
import { type FailureVerdict, failureVerdict } from '../policies/failure-policy.ts'
import { awaitsReplacement, hasValidIndex, isNewlySucceeded, type JobIndexes, type JobState } from './state.ts'
import type { Moment } from './verdict.ts'

export type JobStatus = NonNullable<Job['status']>

/** What is told of a Job beside its counters. */
export interface Observed {
  readonly startTime: string | undefined
  readonly conditions: readonly JobCondition[]
  readonly active: number
  readonly ready: number
  readonly terminating: number
  /** What it will end by; the interim condition. */
  readonly verdict: JobCondition | undefined
}

export interface Tracking {
  /** To be written before anything is done to the pods. */
  readonly status: JobStatus
  /** The pods that then lose their finalizer. */
  readonly release: readonly Pod[]
  /** What the failure policy says of those that are named as failed, or that it ignores. */
  readonly policyActions: readonly string[]
  /** Whether pods are left for the next time. */
  readonly isLimited: boolean
}

/** The uids of so many pods make a status of 20 kB. */
const mostUncounted = 500

export function tracking(state: JobState, observed: Observed): Tracking {
  const { job, pods, indexes } = state
  const { verdict } = observed
  const held = new Set(pods.filter(isTracked).map(({ metadata }) => metadata.uid ?? ''))
  const before = counted(job.status ?? {}, held)
  const named = before.uncountedTerminatedPods
  const succeeded = [...(named?.succeeded ?? [])]
  const failed = [...(named?.failed ?? [])]
  let newIndexes = 0
  const release: Pod[] = []
  const policyActions: string[] = []
  let isLimited = false
  for (const pod of pods) {
    if (!isTracked(pod) || !mayBeReleased(pod, state, verdict)) continue
    release.push(pod)
    const uid = pod.metadata.uid ?? ''
    if (hasSucceeded(pod) && !state.uncounted.failed.has(uid)) {
      if (!isIndexed(job)) {
        if (!state.uncounted.succeeded.has(uid)) succeeded.push(uid)
      } else if (hasValidIndex(pod, job) && isNewlySucceeded(pod, indexes)) newIndexes++
    } else {
      const failure = failureOf(pod, state, verdict)
      if (failure?.action) policyActions.push(failure.action)
      if (failure?.counts) failed.push(uid)
    }
    if (newIndexes + succeeded.length + failed.length >= mostUncounted) {
      isLimited = true
      break
    }
  }
  const status: JobStatus = {
    ...before,
    conditions: [...(verdict ? withCondition(observed.conditions, verdict) : observed.conditions)],
    startTime: observed.startTime,
    active: observed.active,
    ready: observed.ready,
    terminating: observed.terminating,
    uncountedTerminatedPods: { succeeded, failed },
    ...(isIndexed(job) && indexCounters(indexes)),
  }
  return { status: compact(status), release, policyActions, isLimited }
}

function indexCounters({ succeeded, failed }: JobIndexes): Partial<JobStatus> {
  return {
    succeeded: countOf(succeeded),
    completedIndexes: indexesText(succeeded),
    ...(failed && { failedIndexes: indexesText(failed) }),
  }
}

/**
 * A pod goes when it has ended, or when its Job ends; but the last failed one of an index stays until there is another.
 */
function mayBeReleased(pod: Pod, { job, indexes }: JobState, verdict: JobCondition | undefined): boolean {
  if (job.metadata.deletionTimestamp || verdict || hasSucceeded(pod)) return true
  return hasFailed(pod, job) && !awaitsReplacement(pod, indexes)
}

/**
 * What is said of a failure that is new. What still runs when a Job fails counts as failed; what is stopped because
 * enough has succeeded does not.
 */
function failureOf(
  pod: Pod,
  { job, uncounted }: JobState,
  verdict: JobCondition | undefined,
): FailureVerdict | undefined {
  const hasEnded = verdict?.type === 'SuccessCriteriaMet' ? pod.status?.phase === 'Failed' : hasFailed(pod, job)
  if (!hasEnded && verdict?.type !== 'FailureTarget') return undefined
  if (uncounted.failed.has(pod.metadata.uid ?? '') || !hasValidIndex(pod, job)) return undefined
  return failureVerdict(job, pod)
}

/** The status with those counted that it names and that have no finalizer any more. `held`: uids of those that have. */
export function counted(status: JobStatus, held: ReadonlySet<string>): JobStatus {
  const { succeeded = [], failed = [] } = status.uncountedTerminatedPods ?? {}
  const left = { succeeded: succeeded.filter((uid) => held.has(uid)), failed: failed.filter((uid) => held.has(uid)) }
  return compact({
    ...status,
    succeeded: (status.succeeded ?? 0) + succeeded.length - left.succeeded.length,
    failed: (status.failed ?? 0) + failed.length - left.failed.length,
    uncountedTerminatedPods: left,
  })
}

/** The condition that ends a Job; undefined as long as a pod is not counted or still runs. */
export function finalCondition(
  { uncountedTerminatedPods: named, terminating = 0 }: JobStatus,
  verdict: JobCondition,
  now: Moment,
): JobCondition | undefined {
  if ((named?.succeeded?.length ?? 0) + (named?.failed?.length ?? 0) + terminating > 0) return undefined
  return conditionOf(
    verdict.type === 'SuccessCriteriaMet' ? 'Complete' : 'Failed',
    verdict.reason ?? '',
    verdict.message ?? '',
    now.text,
  )
}

export const finished = (status: JobStatus, condition: JobCondition): JobStatus => ({
  ...status,
  conditions: [...withCondition(status.conditions ?? [], condition)],
  ...(condition.type === 'Complete' && { completionTime: condition.lastTransitionTime }),
})

/** Without what says nothing: as it is on the wire. */
function compact(status: JobStatus): JobStatus {
  const {
    active,
    succeeded,
    failed,
    completedIndexes,
    conditions = [],
    startTime,
    uncountedTerminatedPods,
    ...rest
  } = status
  const { succeeded: namedSucceeded = [], failed: namedFailed = [] } = uncountedTerminatedPods ?? {}
  return {
    ...rest,
    ...(conditions.length > 0 && { conditions }),
    ...(startTime && { startTime }),
    ...(active && { active }),
    ...(succeeded && { succeeded }),
    ...(failed && { failed }),
    ...(completedIndexes && { completedIndexes }),
    uncountedTerminatedPods: {
      ...(namedSucceeded.length > 0 && { succeeded: namedSucceeded }),
      ...(namedFailed.length > 0 && { failed: namedFailed }),
    },
  }
}
