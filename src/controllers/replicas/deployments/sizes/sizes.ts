/** Computes the limits of a Deployment and the sizes of its ReplicaSets. Pure functions. */
import type { Deployment, ReplicaSet } from '../../../../client/kinds.ts'
import { countOf } from '../../../pods/percent.ts'
import { isObserved } from '../observed.ts'
import { desiredReplicas, maxReplicas } from '../revisions.ts'

/** Sizes by name of ReplicaSet; sets that are not included keep their size. */
export type Sizes = ReadonlyMap<string, number>

export const replicasOf = ({ spec }: Deployment | ReplicaSet): number => spec?.replicas ?? 1
export const availableReplicasOf = ({ status }: ReplicaSet): number => status?.availableReplicas ?? 0
const nameOf = ({ metadata }: ReplicaSet): string => metadata.name ?? ''
const sum = <T>(items: readonly T[], amount: (item: T) => number): number =>
  items.reduce((total, item) => total + amount(item), 0)
/** The total desired replicas of these sets. */
export const totalReplicas = (sets: readonly ReplicaSet[]): number => sum(sets, replicasOf)

export const isActiveSet = (set: ReplicaSet): boolean => replicasOf(set) > 0
export const isRolling = ({ spec }: Deployment): boolean => spec?.strategy?.type !== 'Recreate'

/**
 * Resolves maxSurge and maxUnavailable. If both are 0, one pod may be unavailable, as no progress would be possible.
 */
export function limitsOf(deployment: Deployment): { readonly maxSurge: number; readonly maxUnavailable: number } {
  if (!isRolling(deployment)) return { maxSurge: 0, maxUnavailable: 0 }
  const replicas = replicasOf(deployment)
  const { maxSurge, maxUnavailable } = deployment.spec?.strategy?.rollingUpdate ?? {}
  const surge = countOf(maxSurge, replicas, 'up') ?? 0
  const unavailable = countOf(maxUnavailable, replicas, 'down') ?? 0
  return {
    maxSurge: surge,
    maxUnavailable: surge === 0 && unavailable === 0 ? Math.min(1, replicas) : Math.min(unavailable, replicas),
  }
}

/** The maximum number of pods of a Deployment, also the base of proportional scaling. */
export const maxReplicasOf = (deployment: Deployment): number => replicasOf(deployment) + limitsOf(deployment).maxSurge

/** The size that the new set may have now, within maxSurge. `others` are all sets except the new one. */
export function newSetSize(deployment: Deployment, current: number, others: readonly ReplicaSet[]): number {
  const replicas = replicasOf(deployment)
  if (!isRolling(deployment) || current >= replicas) return replicas
  const surge = maxReplicasOf(deployment) - current - totalReplicas(others)
  return surge <= 0 ? current : current + Math.min(surge, replicas - current)
}

/** Available pods of a set up to its size: more than that are being deleted, even if the status still counts them. */
const lastingPods = (set: ReplicaSet): number => Math.min(availableReplicasOf(set), replicasOf(set))

/**
 * The sizes to which old sets shrink now: first by unavailable pods, then within maxUnavailable, oldest set first. No
 * set shrinks until all statuses are observed: a stale one may count pods that were deleted when a set shrank that has
 * grown since.
 */
export function oldSetSizes(deployment: Deployment, newSet: ReplicaSet, oldSets: readonly ReplicaSet[]): Sizes {
  const sizes = new Map<string, number>()
  const active = oldSets.filter(isActiveSet).sort(byAge)
  if (![...active, newSet].every(isObserved)) return sizes
  const minAvailable = replicasOf(deployment) - limitsOf(deployment).maxUnavailable
  const newUnavailable = replicasOf(newSet) - lastingPods(newSet)
  let excess = totalReplicas([...active, newSet]) - minAvailable - newUnavailable
  if (active.length === 0 || excess <= 0) return sizes
  for (const set of active) {
    const unhealthy = Math.min(excess, replicasOf(set) - lastingPods(set))
    if (unhealthy <= 0) continue
    sizes.set(nameOf(set), replicasOf(set) - unhealthy)
    excess -= unhealthy
  }
  let surplus = sum([...active, newSet], lastingPods) - minAvailable
  for (const set of active) {
    const size = sizes.get(nameOf(set)) ?? replicasOf(set)
    const reduction = Math.min(size, surplus)
    if (reduction <= 0) continue
    sizes.set(nameOf(set), size - reduction)
    surplus -= reduction
  }
  return sizes
}

/** Sizes after the Deployment was scaled: of the only active set or, during a rollout, of all sets proportionally. */
export function scaledSizes(
  deployment: Deployment,
  newSet: ReplicaSet | undefined,
  oldSets: readonly ReplicaSet[],
): Sizes {
  const replicas = replicasOf(deployment)
  const all = [...oldSets, ...(newSet ? [newSet] : [])]
  const active = all.filter(isActiveSet)
  const only = active.length > 1 ? undefined : (active[0] ?? newSet ?? [...oldSets].sort(byAge).at(-1))
  // A set that was scaled by hand may have the right size but outdated annotations.
  const isAnnotated = !only || !isActiveSet(only) || desiredReplicas(only) === replicas
  if (only) return new Map(replicasOf(only) === replicas && isAnnotated ? [] : [[nameOf(only), replicas]])
  if (active.length === 0) return new Map()
  if (newSet && isSaturated(deployment, newSet))
    return new Map(oldSets.filter(isActiveSet).map((set) => [nameOf(set), 0]))
  return isRolling(deployment) ? proportionalSizes(deployment, active) : new Map()
}

/** Returns true if a set has all the available replicas of its Deployment. */
const isSaturated = (deployment: Deployment, set: ReplicaSet): boolean =>
  [replicasOf(set), desiredReplicas(set), availableReplicasOf(set)].every((count) => count === replicasOf(deployment))

/**
 * Distributes added or removed replicas over the sets in proportion to their sizes; the rounding remainder goes to the
 * largest. Includes all sets, so that all annotations are updated.
 */
function proportionalSizes(deployment: Deployment, active: readonly ReplicaSet[]): Sizes {
  const toAdd = (replicasOf(deployment) > 0 ? maxReplicasOf(deployment) : 0) - totalReplicas(active)
  // Largest first. Of equal sets, newer ones grow first and older ones shrink first.
  const ordered = active.toSorted((a, b) => replicasOf(b) - replicasOf(a) || (toAdd > 0 ? byAge(b, a) : byAge(a, b)))
  const sizes = new Map<string, number>()
  let added = 0
  for (const set of ordered) {
    const remaining = toAdd - added
    const share = remaining === 0 ? 0 : fractionOf(set, deployment)
    const part = toAdd > 0 ? Math.min(share, remaining) : Math.max(share, remaining)
    sizes.set(nameOf(set), replicasOf(set) + part)
    added += part
  }
  const [largest] = ordered
  if (largest) sizes.set(nameOf(largest), Math.max(0, (sizes.get(nameOf(largest)) ?? 0) + toAdd - added))
  return sizes
}

/** The change by which a set keeps its share of the Deployment, whose old size is in the set's annotation. */
function fractionOf(set: ReplicaSet, deployment: Deployment): number {
  const size = replicasOf(set)
  if (replicasOf(deployment) === 0) return -size
  const total = maxReplicas(set) || deployment.status?.replicas
  // The old size is unknown.
  if (!total) return 0
  return Math.round((size * maxReplicasOf(deployment)) / total) - size
}

/** Oldest first. */
export function byAge(a: ReplicaSet, b: ReplicaSet): number {
  const [x = '', y = ''] = [a.metadata.creationTimestamp, b.metadata.creationTimestamp]
  if (x !== y) return x < y ? -1 : 1
  return nameOf(a) < nameOf(b) ? -1 : 1
}
