/**
 * The status of a Deployment: its numbers, whether enough of it is available, and whether a rollout makes progress.
 * Pure functions.
 */
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
import { availableIn, limitsOf, replicasOf, wantedIn } from './sizes/sizes.ts'

export interface RolloutSets {
  /** That of the current template, if there is one. */
  readonly newSet: ReplicaSet | undefined
  readonly oldSets: readonly ReplicaSet[]
}

/** The sets of old templates, and that of the current one. */
export const allOf = ({ newSet, oldSets }: RolloutSets): ReplicaSet[] => [...oldSets, ...(newSet ? [newSet] : [])]
const sum = (
  sets: readonly ReplicaSet[],
  amount: (status: NonNullable<ReplicaSet['status']>) => number | undefined,
): number => sets.reduce((total, { status }) => total + ((status && amount(status)) ?? 0), 0)

/** Undefined if one of the sets does not say how many of its pods are terminating. */
function terminatingIn(sets: readonly ReplicaSet[]): number | undefined {
  return sets.some(({ status }) => status?.terminatingReplicas === undefined)
    ? undefined
    : sum(sets, ({ terminatingReplicas }) => terminatingReplicas)
}

/**
 * Numbers and availability; the conditions are those that the Deployment has, and `Available`. `now` is in
 * milliseconds.
 */
export function numbersOf(deployment: Deployment, sets: RolloutSets, now: number): DeploymentStatus {
  const all = allOf(sets)
  const available = all.reduce((total, set) => total + availableIn(set), 0)
  const numbers = {
    replicas: sum(all, ({ replicas }) => replicas),
    updatedReplicas: sets.newSet?.status?.replicas ?? 0,
    readyReplicas: sum(all, ({ readyReplicas }) => readyReplicas),
    availableReplicas: available,
    unavailableReplicas: Math.max(0, wantedIn(all) - available),
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
    // Numbers that are 0 are left out, as ReplicaSets leave them out.
    ...Object.fromEntries(Object.entries(numbers).filter(([, value]) => value !== 0)),
    ...(terminatingReplicas !== undefined && { terminatingReplicas }),
    ...(collisionCount !== undefined && { collisionCount }),
    conditions: withCondition(deployment.status?.conditions ?? [], condition),
  }
}

/** "Without limit", for deadlines and histories. */
const noLimit = 2 ** 31 - 1

/** Seconds in which a rollout has to get on, if it has to. */
export function progressDeadline({ spec }: Deployment): number | undefined {
  const seconds = spec?.progressDeadlineSeconds
  return seconds === noLimit ? undefined : seconds
}

/** How many old ReplicaSets are kept, if there is a limit. */
export function historyLimit({ spec }: Deployment): number | undefined {
  const limit = spec?.revisionHistoryLimit
  return limit === noLimit ? undefined : limit
}

/** Whether all pods are of the current template and available, and what was asked for is seen. */
export function isComplete({ metadata, spec }: Deployment, status: DeploymentStatus = {}): boolean {
  const counts = [status.updatedReplicas, status.replicas, status.availableReplicas]
  return counts.every((count = 0) => count === (spec?.replicas ?? 1)) && isObserved({ metadata, status })
}

/**
 * Whether something has moved since the status before: more new pods, fewer old ones, more that are ready or available.
 */
function isProgressing(before: DeploymentStatus, now: DeploymentStatus): boolean {
  const old = (status: DeploymentStatus): number => (status.replicas ?? 0) - (status.updatedReplicas ?? 0)
  const grew = (field: 'updatedReplicas' | 'readyReplicas' | 'availableReplicas'): boolean =>
    (now[field] ?? 0) > (before[field] ?? 0)
  return grew('updatedReplicas') || old(now) < old(before) || grew('readyReplicas') || grew('availableReplicas')
}

/** The status during a rollout: progress is judged, and failures of ReplicaSets are told. `now` is in milliseconds. */
export function rolloutStatus(deployment: Deployment, sets: RolloutSets, now: number): DeploymentStatus {
  const status = numbersOf(deployment, sets, now)
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
  const before = conditionOf(deployment.status?.conditions ?? [], 'Progressing')
  if (before?.reason === reasons.available && (status.replicas ?? 0) === (status.updatedReplicas ?? 0))
    return conditions
  const subject = newSet ? `ReplicaSet "${newSet.metadata.name}"` : `Deployment "${deployment.metadata.name}"`
  const progressing = (status: 'True' | 'False', reason: string, what: string): DeploymentCondition =>
    newCondition('Progressing', status, reason, `${subject} ${what}`, now)
  if (isComplete(deployment, status))
    return withCondition(conditions, progressing('True', reasons.available, 'has successfully progressed.'))
  if (isProgressing(deployment.status ?? {}, status)) {
    const condition = progressing('True', reasons.updated, 'is progressing.')
    // Its time of update is what the deadline counts from: it moves with every progress, for the same reason too.
    const lastTransitionTime = before?.status === 'True' ? before.lastTransitionTime : condition.lastTransitionTime
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

/**
 * In how many milliseconds a rollout that does not move has to be looked at for its deadline; undefined where nothing
 * is waited for.
 */
export function progressCheckInMs(deployment: Deployment, status: DeploymentStatus, now: number): number | undefined {
  const progressing = conditionOf(status.conditions ?? [], 'Progressing')
  if (
    !progressing ||
    isComplete(deployment, status) ||
    progressing.reason === reasons.timedOut ||
    progressing.reason === reasons.available
  )
    return undefined
  const left = deadlineInMs(deployment, progressing, now)
  return left === undefined ? undefined : Math.max(0, left) + 1
}

/** The failure of a ReplicaSet to create or delete pods is the Deployment's too; the new one's first. */
function withFailure(conditions: readonly DeploymentCondition[], sets: RolloutSets): DeploymentCondition[] {
  const inOrder = [...(sets.newSet ? [sets.newSet] : []), ...sets.oldSets]
  const failure = inOrder
    .flatMap(({ status }) => status?.conditions ?? [])
    .find(({ type }) => type === 'ReplicaFailure')
  if (!failure) return withoutCondition(conditions, 'ReplicaFailure')
  return withCondition(conditions, { ...failure, lastUpdateTime: failure.lastTransitionTime })
}

/** Says that a Deployment is paused or goes on, so that a pause does not count as a lack of progress. */
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
