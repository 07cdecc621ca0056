/** Conditions of Jobs. */
import type { Job } from '../../client/kinds.ts'

export type JobCondition = NonNullable<NonNullable<Job['status']>['conditions']>[number]

/**
 * `Complete` and `Failed` are final. The interim conditions `SuccessCriteriaMet` and `FailureTarget` precede them while
 * pods still run (KEP-3998, KEP-4368).
 */
export type JobConditionType = 'Suspended' | 'SuccessCriteriaMet' | 'FailureTarget' | 'Complete' | 'Failed'

/** `now` is in RFC 3339. */
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

/** Returns the condition of that type if its status is True. */
export const trueCondition = ({ status }: Job, type: string): JobCondition | undefined =>
  status?.conditions?.find((condition) => condition.type === type && condition.status === 'True')

/** Returns the final condition of a Job; undefined if it has not finished. */
export const finishedCondition = (job: Job): JobCondition | undefined =>
  job.status?.conditions?.find(({ type, status }) => (type === 'Complete' || type === 'Failed') && status === 'True')

/**
 * Returns the conditions with one added or updated. Returns the same list if nothing changes or if the condition is new
 * and False.
 */
export function withCondition(conditions: readonly JobCondition[], condition: JobCondition): readonly JobCondition[] {
  const known = conditions.find(({ type }) => type === condition.type)
  if (!known) return condition.status === 'False' ? conditions : [...conditions, condition]
  if (known.status === condition.status && known.reason === condition.reason && known.message === condition.message)
    return conditions
  return conditions.map((one) => (one === known ? condition : one))
}
