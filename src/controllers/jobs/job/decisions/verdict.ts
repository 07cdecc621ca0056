/** Decides if and why a Job has failed or succeeded: by its policies, limits and deadline, in this order. */
import type { Job, Pod } from '../../../../client/kinds.ts'
import { conditionOf, type JobCondition, trueCondition } from '../../finished.ts'
import { countOf } from '../indexes.ts'
import { hasFailed, isIndexed } from '../pods.ts'
import { failureVerdict } from '../policies/failure-policy.ts'
import { metSuccessRule } from '../policies/success-policy.ts'
import { completionsOf, isSuspended, type JobState } from './state.ts'

/** A time in ms and in RFC 3339. */
export interface Moment {
  readonly ms: number
  readonly text: string
}

export const momentOf = (ms: number): Moment => ({ ms, text: `${new Date(ms).toISOString().slice(0, 19)}Z` })

/**
 * Returns the condition `FailureTarget` or `SuccessCriteriaMet` that a Job must get. An existing one is returned as is,
 * so that the decision is final. Undefined while the Job runs or if it merely reached its completions.
 */
export function verdictOf(state: JobState, startTime: string | undefined, now: Moment): JobCondition | undefined {
  const { job, pods, failed, indexes } = state
  const { spec } = job
  const fails = (reason: string, message: string): JobCondition =>
    conditionOf('FailureTarget', reason, message, now.text)
  const known = trueCondition(job, 'SuccessCriteriaMet') ?? trueCondition(job, 'FailureTarget')
  if (known) return known
  const why = failsByPolicy(job, pods)
  if (why) return fails('PodFailurePolicy', why)
  if (failed > (spec?.backoffLimit ?? 0) || hasRestartedTooOften(job, pods))
    return fails('BackoffLimitExceeded', 'Job has reached the specified backoff limit')
  if (deadlineInMs(job, startTime, now) === 0)
    return fails('DeadlineExceeded', 'Job was active longer than specified deadline')
  if (!isIndexed(job)) return undefined
  const failedCount = countOf(indexes.failed ?? [])
  if (failedCount > (spec?.maxFailedIndexes ?? Number.POSITIVE_INFINITY))
    return fails('MaxFailedIndexesExceeded', 'Job has exceeded the specified maximal number of failed indexes')
  if (failedCount > 0 && failedCount + countOf(indexes.succeeded) >= completionsOf(job))
    return fails('FailedIndexes', 'Job has failed indexes')
  const met = metSuccessRule(job, indexes.succeeded)
  return met === undefined ? undefined : conditionOf('SuccessCriteriaMet', 'SuccessPolicy', met, now.text)
}

/**
 * Returns true if enough pods have succeeded and none is active; `active`: active pods after all changes. Without
 * completions one success is enough, and the other pods run to their end.
 */
export function isComplete({ job, succeeded }: JobState, active: number): boolean {
  return active === 0 && (job.spec?.completions === undefined ? succeeded > 0 : succeeded >= completionsOf(job))
}

export const completed = (now: Moment): JobCondition =>
  conditionOf('SuccessCriteriaMet', 'CompletionsReached', 'Reached expected number of succeeded pods', now.text)

/** Time in ms until a Job exceeds its deadline, 0 if it has; undefined without a deadline or while not started. */
export function deadlineInMs(job: Job, startTime: string | undefined, now: Moment): number | undefined {
  const seconds = job.spec?.activeDeadlineSeconds
  if (seconds === undefined || startTime === undefined || isSuspended(job)) return undefined
  return Math.max(0, Date.parse(startTime) + Number(seconds) * 1000 - now.ms)
}

function failsByPolicy(job: Job, pods: readonly Pod[]): string | undefined {
  if (!job.spec?.podFailurePolicy) return undefined
  for (const pod of pods) {
    const message = hasFailed(pod, job) ? failureVerdict(job, pod).message : undefined
    if (message) return message
  }
}

/** With restartPolicy OnFailure, container restarts count as failures. */
function hasRestartedTooOften({ spec }: Job, pods: readonly Pod[]): boolean {
  if (spec?.template.spec?.restartPolicy !== 'OnFailure') return false
  const running = pods.filter(({ status }) => status?.phase === 'Running' || status?.phase === 'Pending')
  const containers = running.flatMap(({ status }) => [
    ...(status?.initContainerStatuses ?? []),
    ...(status?.containerStatuses ?? []),
  ])
  const restarts = containers.reduce((sum, { restartCount }) => sum + restartCount, 0)
  return restarts >= Math.max(1, spec.backoffLimit ?? 0)
}
