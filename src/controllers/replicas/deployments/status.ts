/** Computes the status of a Deployment: counts, availability and progress. Pure functions. */
import type { Deployment, ReplicaSet } from '../../../client/kinds.ts'
import {
  conditionOf,
  type DeploymentCondition,
  type DeploymentStatus,
  newCondition,
  reasons,
  withCondition,
  withoutCondition,
} from './conditions.ts'
import { isObserved } from './observed.ts'
import { availableReplicasOf, limitsOf, replicasOf, totalReplicas } from './sizes/sizes.ts'

export interface RolloutSets {
  /** The set of the current template, if it exists. */
  readonly newSet: ReplicaSet | undefined
  readonly oldSets: readonly ReplicaSet[]
}

/** All sets: the old ones, then the new one. */
export const allOf = ({ newSet, oldSets }: RolloutSets): ReplicaSet[] => [...oldSets, ...(newSet ? [newSet] : [])]
const sum = (
  sets: readonly ReplicaSet[],
  amount: (status: NonNullable<ReplicaSet['status']>) => number | undefined,
): number => sets.reduce((total, { status }) => total + ((status && amount(status)) ?? 0), 0)

/** Sum of terminating pods; undefined if a set does not report them. */
function terminatingIn(sets: readonly ReplicaSet[]): number | undefined {
  return sets.some(({ status }) => status?.terminatingReplicas === undefined)
    ? undefined
    : sum(sets, ({ terminatingReplicas }) => terminatingReplicas)
}

/** Returns the status with counts and the `Available` condition; other conditions stay. `now` is in ms. */
export function baseStatus(deployment: Deployment, sets: RolloutSets, now: number): DeploymentStatus {
  const all = allOf(sets)
  const available = all.reduce((total, set) => total + availableReplicasOf(set), 0)
  const numbers = {
    replicas: sum(all, ({ replicas }) => replicas),
    updatedReplicas: sets.newSet?.status?.replicas ?? 0,
    readyReplicas: sum(all, ({ readyReplicas }) => readyReplicas),
    availableReplicas: available,
    unavailableReplicas: Math.max(0, totalReplicas(all) - available),
  }
  const terminatingReplicas = terminatingIn(all)
  const isAvailable = available >= replicasOf(deployment) - limitsOf(deployment).maxUnavailable
  const condition = isAvailable
    ? newCondition('Available', 'True', 'MinimumReplicasAvailable', 'Deployment has minimum availability.', now)
    : newCondition(
        'Available',
        'False',
        'MinimumReplicasUnavailable',
        'Deployment does not have minimum availability.',
        now,
      )
  const { collisionCount } = deployment.status ?? {}
  return {
    observedGeneration: deployment.metadata.generation,
    // Zero counts are omitted, as in ReplicaSets.
    ...Object.fromEntries(Object.entries(numbers).filter(([, value]) => value !== 0)),
    ...(terminatingReplicas !== undefined && { terminatingReplicas }),
    ...(collisionCount !== undefined && { collisionCount }),
    conditions: withCondition(deployment.status?.conditions ?? [], condition),
  }
}

/** The value that means no limit, for deadlines and histories. */
const noLimit = 2 ** 31 - 1

/** The progress deadline in seconds; undefined without a limit. */
export function progressDeadline({ spec }: Deployment): number | undefined {
  const seconds = spec?.progressDeadlineSeconds
  return seconds === noLimit ? undefined : seconds
}

/** The number of old ReplicaSets to retain; undefined without a limit. */
export function historyLimit({ spec }: Deployment): number | undefined {
  const limit = spec?.revisionHistoryLimit
  return limit === noLimit ? undefined : limit
}

/** Returns true if all pods are updated and available and the current generation is observed. */
export function isComplete({ metadata, spec }: Deployment, status: DeploymentStatus = {}): boolean {
  const counts = [status.updatedReplicas, status.replicas, status.availableReplicas]
  return counts.every((count = 0) => count === (spec?.replicas ?? 1)) && isObserved({ metadata, status })
}

/** Returns true on progress since the old status: more updated, ready or available pods, or fewer old pods. */
function isProgressing(before: DeploymentStatus, now: DeploymentStatus): boolean {
  const old = (status: DeploymentStatus): number => (status.replicas ?? 0) - (status.updatedReplicas ?? 0)
  const grew = (field: 'updatedReplicas' | 'readyReplicas' | 'availableReplicas'): boolean =>
    (now[field] ?? 0) > (before[field] ?? 0)
  return grew('updatedReplicas') || old(now) < old(before) || grew('readyReplicas') || grew('availableReplicas')
}

/** Returns the status during a rollout, with `Progressing` and `ReplicaFailure`. `now` is in ms. */
export function rolloutStatus(deployment: Deployment, sets: RolloutSets, now: number): DeploymentStatus {
  const status = baseStatus(deployment, sets, now)
  return { ...status, conditions: withFailure(withProgress(deployment, sets, status, now), sets) }
}

function withProgress(
  deployment: Deployment,
  { newSet }: RolloutSets,
  status: DeploymentStatus,
  now: number,
): DeploymentCondition[] {
  const conditions = status.conditions ?? []
  if (progressDeadline(deployment) === undefined) return withoutCondition(conditions, 'Progressing')
  const previous = conditionOf(deployment.status?.conditions ?? [], 'Progressing')
  if (previous?.reason === reasons.available && (status.replicas ?? 0) === (status.updatedReplicas ?? 0))
    return conditions
  const subject = newSet ? `ReplicaSet "${newSet.metadata.name}"` : `Deployment "${deployment.metadata.name}"`
  const progressing = (status: 'True' | 'False', reason: string, state: string): DeploymentCondition =>
    newCondition('Progressing', status, reason, `${subject} ${state}`, now)
  if (isComplete(deployment, status))
    return withCondition(conditions, progressing('True', reasons.available, 'has successfully progressed.'))
  if (isProgressing(deployment.status ?? {}, status)) {
    const condition = progressing('True', reasons.updated, 'is progressing.')
    // The deadline starts at lastUpdateTime, so progress updates it even if the reason stays the same.
    const lastTransitionTime = previous?.status === 'True' ? previous.lastTransitionTime : condition.lastTransitionTime
    return [...withoutCondition(conditions, 'Progressing'), { ...condition, lastTransitionTime }]
  }
  if (isTimedOut(deployment, conditions, now))
    return withCondition(conditions, progressing('False', reasons.timedOut, 'has timed out progressing.'))
  return conditions
}

function isTimedOut(deployment: Deployment, conditions: readonly DeploymentCondition[], now: number): boolean {
  const progressing = conditionOf(conditions, 'Progressing')
  if (!progressing || progressing.reason === reasons.available) return false
  return progressing.reason === reasons.timedOut || (deadlineInMs(deployment, progressing, now) ?? 1) < 0
}

function deadlineInMs(
  deployment: Deployment,
  { lastUpdateTime }: DeploymentCondition,
  now: number,
): number | undefined {
  const seconds = progressDeadline(deployment)
  return seconds === undefined || !lastUpdateTime ? undefined : Date.parse(lastUpdateTime) + seconds * 1000 - now
}

/** Time in ms until a rollout must be checked for its deadline; undefined if no deadline is pending. */
export function progressCheckInMs(deployment: Deployment, status: DeploymentStatus, now: number): number | undefined {
  const progressing = conditionOf(status.conditions ?? [], 'Progressing')
  if (
    !progressing ||
    isComplete(deployment, status) ||
    progressing.reason === reasons.timedOut ||
    progressing.reason === reasons.available
  )
    return undefined
  const remainingMs = deadlineInMs(deployment, progressing, now)
  return remainingMs === undefined ? undefined : Math.max(0, remainingMs) + 1
}

/** Copies the ReplicaFailure condition of a ReplicaSet, preferably of the new one. */
function withFailure(conditions: readonly DeploymentCondition[], sets: RolloutSets): DeploymentCondition[] {
  const inOrder = [...(sets.newSet ? [sets.newSet] : []), ...sets.oldSets]
  const failure = inOrder
    .flatMap(({ status }) => status?.conditions ?? [])
    .find(({ type }) => type === 'ReplicaFailure')
  if (!failure) return withoutCondition(conditions, 'ReplicaFailure')
  return withCondition(conditions, { ...failure, lastUpdateTime: failure.lastTransitionTime })
}

/** Sets the Progressing condition on pause and resume, so that a pause does not count towards the deadline. */
export function withPause(deployment: Deployment, now: number): DeploymentCondition[] {
  const { spec, status } = deployment
  const conditions = status?.conditions ?? []
  const progressing = conditionOf(conditions, 'Progressing')
  if (progressDeadline(deployment) === undefined || progressing?.reason === reasons.timedOut) return conditions
  const wasPaused = progressing?.reason === reasons.paused
  if (spec?.paused && !wasPaused)
    return withCondition(
      conditions,
      newCondition('Progressing', 'Unknown', reasons.paused, 'Deployment is paused', now),
    )
  if (!spec?.paused && wasPaused)
    return withCondition(
      conditions,
      newCondition('Progressing', 'Unknown', reasons.resumed, 'Deployment is resumed', now),
    )
  return conditions
}
