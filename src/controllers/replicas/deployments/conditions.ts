/** Conditions of Deployments. `kubectl rollout status` depends on their reasons. */
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

/** Formats ms since the epoch as RFC 3339 with whole seconds. */
export const timeOf = (now: number): string => `${new Date(now).toISOString().slice(0, 19)}Z`

/** Returns a condition that changes now. `now` is in ms. */
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
 * Adds or replaces a condition. The same status and reason change nothing; the same status keeps its transition time.
 */
export function withCondition(
  conditions: readonly DeploymentCondition[],
  condition: DeploymentCondition,
): DeploymentCondition[] {
  const previous = conditionOf(conditions, condition.type)
  if (previous?.status === condition.status && previous.reason === condition.reason) return [...conditions]
  const lastTransitionTime =
    previous?.status === condition.status ? previous.lastTransitionTime : condition.lastTransitionTime
  return [...withoutCondition(conditions, condition.type), { ...condition, lastTransitionTime }]
}
