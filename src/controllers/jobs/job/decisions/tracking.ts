/**
 * Counts a Job's pods so that a crash of the controller neither loses nor repeats one (KEP-2307): an ended pod is first
 * listed in the status, then its finalizer is removed, then it is counted and removed from the list. Succeeded indexes
 * need no list.
 */
import type { Job, Pod } from '../../../../client/kinds.ts'
import { conditionOf, type JobCondition, withCondition } from '../../finished.ts'
import { countOf, indexesText } from '../indexes.ts'
import { hasFailed, hasSucceeded, isIndexed, isTracked } from '../pods.ts'
import { type FailureVerdict, failureVerdict } from '../policies/failure-policy.ts'
import { awaitsReplacement, hasValidIndex, isNewlySucceeded, type JobIndexes, type JobState } from './state.ts'
import type { Moment } from './verdict.ts'

export type JobStatus = NonNullable<Job['status']>

/** Status fields of a Job besides the counters. */
export interface Observed {
  readonly startTime: string | undefined
  readonly conditions: readonly JobCondition[]
  readonly active: number
  readonly ready: number
  readonly terminating: number
  /** The interim condition, which decides how the Job will finish. */
  readonly verdict: JobCondition | undefined
}

export interface Tracking {
  /** Must be written before the pods are released. */
  readonly status: JobStatus
  /** The pods whose finalizer is then removed. */
  readonly release: readonly Pod[]
  /** The failure policy's actions for pods that are listed as failed or ignored. */
  readonly policyActions: readonly string[]
  /** True if some pods remain for the next reconcile. */
  readonly isLimited: boolean
}

/** The uids of 500 pods make a status of 20 kB. */
const maxUncounted = 500

export function tracking(state: JobState, observed: Observed): Tracking {
  const { job, pods, indexes } = state
  const { verdict } = observed
  const held = new Set(pods.filter(isTracked).map(({ metadata }) => metadata.uid ?? ''))
  const before = counted(job.status ?? {}, held)
  const listed = before.uncountedTerminatedPods
  const succeeded = [...(listed?.succeeded ?? [])]
  const failed = [...(listed?.failed ?? [])]
  let newIndexes = 0
  const release: Pod[] = []
  const policyActions: string[] = []
  let isLimited = false
  for (const pod of pods) {
    if (!isTracked(pod) || !canRelease(pod, state, verdict)) continue
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
    if (newIndexes + succeeded.length + failed.length >= maxUncounted) {
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

/** A pod is released when it or its Job has ended; the last failed pod of an index only after its replacement. */
function canRelease(pod: Pod, { job, indexes }: JobState, verdict: JobCondition | undefined): boolean {
  if (job.metadata.deletionTimestamp || verdict || hasSucceeded(pod)) return true
  return hasFailed(pod, job) && !awaitsReplacement(pod, indexes)
}

/**
 * The failure policy's verdict on a new failure. Pods that still run when a Job fails count as failed; pods that are
 * stopped because enough have succeeded do not.
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

/** Moves listed pods without a finalizer into the counters. `held`: uids of pods that still have the finalizer. */
export function counted(status: JobStatus, held: ReadonlySet<string>): JobStatus {
  const { succeeded = [], failed = [] } = status.uncountedTerminatedPods ?? {}
  const remaining = {
    succeeded: succeeded.filter((uid) => held.has(uid)),
    failed: failed.filter((uid) => held.has(uid)),
  }
  return compact({
    ...status,
    succeeded: (status.succeeded ?? 0) + succeeded.length - remaining.succeeded.length,
    failed: (status.failed ?? 0) + failed.length - remaining.failed.length,
    uncountedTerminatedPods: remaining,
  })
}

/** The condition that finishes a Job; undefined while a pod is uncounted or terminating. */
export function finalCondition(
  { uncountedTerminatedPods: listed, terminating = 0 }: JobStatus,
  verdict: JobCondition,
  now: Moment,
): JobCondition | undefined {
  if ((listed?.succeeded?.length ?? 0) + (listed?.failed?.length ?? 0) + terminating > 0) return undefined
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

/** Omits empty fields, as in the wire format. */
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
  const { succeeded: listedSucceeded = [], failed: listedFailed = [] } = uncountedTerminatedPods ?? {}
  return {
    ...rest,
    ...(conditions.length > 0 && { conditions }),
    ...(startTime && { startTime }),
    ...(active && { active }),
    ...(succeeded && { succeeded }),
    ...(failed && { failed }),
    ...(completedIndexes && { completedIndexes }),
    uncountedTerminatedPods: {
      ...(listedSucceeded.length > 0 && { succeeded: listedSucceeded }),
      ...(listedFailed.length > 0 && { failed: listedFailed }),
    },
  }
}
