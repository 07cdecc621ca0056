/**
 * Conditions of Deployments: reasons and sentences that people and `kubectl rollout status` know by heart, and how one
 * follows another.
 */
import type { Deployment } from '../../../client/kinds.ts'

export type DeploymentStatus = NonNullable<Deployment['status']>
export type DeploymentCondition = NonNullable<DeploymentStatus['conditions']>[number]

export const reasons = {
  created: 'NewReplicaSetCreated',
  found: 'FoundNewReplicaSet',
  updated: 'ReplicaSetUpdated',
  available: 'NewReplicaSetAvailable',
  notCreated: 'ReplicaSetCreateError',
  timedOut: 'ProgressDeadlineExceeded',
  paused: 'DeploymentPaused',
  resumed: 'DeploymentResumed',
} as const

/** RFC 3339 in whole seconds, of milliseconds. */
export const timeOf = (now: number): string => `${new Date(now).toISOString().slice(0, 19)}Z`

/** A condition that has just come to be. `now` is in milliseconds. */
export const newCondition = (
  type: string,
  status: 'True' | 'False' | 'Unknown',
  reason: string,
  message: string,
  now: number,
): DeploymentCondition => ({
  type,
  status,
  lastUpdateTime: timeOf(now),
  lastTransitionTime: timeOf(now),
  reason,
  message,
})

export const conditionOf = (
  conditions: readonly DeploymentCondition[],
  type: string,
): DeploymentCondition | undefined => conditions.find((condition) => condition.type === type)

export const withoutCondition = (conditions: readonly DeploymentCondition[], type: string): DeploymentCondition[] =>
  conditions.filter((condition) => condition.type !== type)

/**
 * With a condition in the place of one of its type; the same status for the same reason changes nothing, the same
 * status keeps its time.
 */
export function withCondition(
  conditions: readonly DeploymentCondition[],
  condition: DeploymentCondition,
): DeploymentCondition[] {
  const before = conditionOf(conditions, condition.type)
  if (before?.status === condition.status && before.reason === condition.reason) return [...conditions]
  const lastTransitionTime =
    before?.status === condition.status ? before.lastTransitionTime : condition.lastTransitionTime
  return [...withoutCondition(conditions, condition.type), { ...condition, lastTransitionTime }]
}
