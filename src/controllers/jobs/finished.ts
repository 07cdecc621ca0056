/** Conditions of Jobs: which there are, and whether a Job has ended. */
import type { Job } from '../../client/kinds.ts'

export type JobCondition = NonNullable<NonNullable<Job['status']>['conditions']>[number]

/**
 * `Complete` and `Failed` end a Job; what leads to them comes before, so that nobody takes a Job for ended whose pods
 * still run (KEP-3998, KEP-4368).
 */
export type JobConditionType = 'Suspended' | 'SuccessCriteriaMet' | 'FailureTarget' | 'Complete' | 'Failed'

/** `now`: as on the wire. */
export const conditionOf = (
  type: JobConditionType,
  reason: string,
  message: string,
  now: string,
  status: 'True' | 'False' = 'True',
): JobCondition => ({
  type,
  status,
  lastProbeTime: now,
  lastTransitionTime: now,
  ...(reason && { reason }),
  ...(message && { message }),
})

/** The condition, if it holds. */
export const trueCondition = ({ status }: Job, type: string): JobCondition | undefined =>
  status?.conditions?.find((condition) => condition.type === type && condition.status === 'True')

/** How a Job has ended; undefined while it goes on. */
export const finishedCondition = (job: Job): JobCondition | undefined =>
  job.status?.conditions?.find(({ type, status }) => (type === 'Complete' || type === 'Failed') && status === 'True')

/**
 * The conditions with one more or one changed; the same list if it is there already, or would only say that something
 * is not so.
 */
export function withCondition(conditions: readonly JobCondition[], condition: JobCondition): readonly JobCondition[] {
  const known = conditions.find(({ type }) => type === condition.type)
  if (!known) return condition.status === 'False' ? conditions : [...conditions, condition]
  if (known.status === condition.status && known.reason === condition.reason && known.message === condition.message)
    return conditions
  return conditions.map((one) => (one === known ? condition : one))
}
