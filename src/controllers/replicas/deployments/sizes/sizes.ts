/**
 * The arithmetic of a Deployment: how many pods may be too many or missing, and how many each ReplicaSet should have.
 * Pure functions.
 */
import type { Deployment, ReplicaSet } from '../../../../client/kinds.ts'
import { countOf } from '../../../pods/percent.ts'
import { isObserved } from '../observed.ts'
import { desiredReplicas, maxReplicas } from '../revisions.ts'

/** Sizes by the names of ReplicaSets; those that are not in it stay as they are. */
export type Sizes = ReadonlyMap<string, number>

export const replicasOf = ({ spec }: Deployment | ReplicaSet): number => spec?.replicas ?? 1
export const availableIn = ({ status }: ReplicaSet): number => status?.availableReplicas ?? 0
const nameOf = ({ metadata }: ReplicaSet): string => metadata.name ?? ''
const sum = <T>(items: readonly T[], amount: (item: T) => number): number =>
  items.reduce((total, item) => total + amount(item), 0)
/** How many pods these sets should have in all. */
export const wantedIn = (sets: readonly ReplicaSet[]): number => sum(sets, replicasOf)

export const isActiveSet = (set: ReplicaSet): boolean => replicasOf(set) > 0
export const isRolling = ({ spec }: Deployment): boolean => spec?.strategy?.type !== 'Recreate'

/**
 * How many pods a Deployment may have beyond its size, and how many may be missing. Both 0 would get nowhere: one may
 * be missing then.
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

/** The most pods that a Deployment should ever have: what its ReplicaSets are told to scale in proportion to. */
export const mostOf = (deployment: Deployment): number => replicasOf(deployment) + limitsOf(deployment).maxSurge

/** How large the new set may be now: all that surge leaves room for. `others` are all sets but the new one. */
export function newSetSize(deployment: Deployment, current: number, others: readonly ReplicaSet[]): number {
  const replicas = replicasOf(deployment)
  if (!isRolling(deployment) || current >= replicas) return replicas
  const room = mostOf(deployment) - current - wantedIn(others)
  return room <= 0 ? current : current + Math.min(room, replicas - current)
}

/** The available pods of a set that stay: those beyond its size are about to go, though its status may not tell yet. */
const lastingIn = (set: ReplicaSet): number => Math.min(availableIn(set), replicasOf(set))

/**
 * How far the old sets shrink now: first by what is not available anyway, then by what availability allows. Oldest
 * first. None does before their statuses are of the sizes they have: one of before may count pods that went when a set
 * shrank that has grown again since.
 */
export function oldSetSizes(deployment: Deployment, newSet: ReplicaSet, oldSets: readonly ReplicaSet[]): Sizes {
  const sizes = new Map<string, number>()
  const active = oldSets.filter(isActiveSet).sort(byAge)
  if (![...active, newSet].every(isObserved)) return sizes
  const minAvailable = replicasOf(deployment) - limitsOf(deployment).maxUnavailable
  const newUnavailable = replicasOf(newSet) - lastingIn(newSet)
  let excess = wantedIn([...active, newSet]) - minAvailable - newUnavailable
  if (active.length === 0 || excess <= 0) return sizes
  for (const set of active) {
    const unhealthy = Math.min(excess, replicasOf(set) - lastingIn(set))
    if (unhealthy <= 0) continue
    sizes.set(nameOf(set), replicasOf(set) - unhealthy)
    excess -= unhealthy
  }
  let surplus = sum([...active, newSet], lastingIn) - minAvailable
  for (const set of active) {
    const size = sizes.get(nameOf(set)) ?? replicasOf(set)
    const fewer = Math.min(size, surplus)
    if (fewer <= 0) continue
    sizes.set(nameOf(set), size - fewer)
    surplus -= fewer
  }
  return sizes
}

/**
 * Sizes for another size of the Deployment: of the one active set, or of all in proportion in the middle of a rollout.
 */
export function scaledSizes(
  deployment: Deployment,
  newSet: ReplicaSet | undefined,
  oldSets: readonly ReplicaSet[],
): Sizes {
  const replicas = replicasOf(deployment)
  const all = [...oldSets, ...(newSet ? [newSet] : [])]
  const active = all.filter(isActiveSet)
  const only = active.length > 1 ? undefined : (active[0] ?? newSet ?? [...oldSets].sort(byAge).at(-1))
  // The size may be right already, and be noted wrongly: the set was scaled by hand.
  const isNoted = !only || !isActiveSet(only) || desiredReplicas(only) === replicas
  if (only) return new Map(replicasOf(only) === replicas && isNoted ? [] : [[nameOf(only), replicas]])
  if (active.length === 0) return new Map()
  if (newSet && isSaturated(deployment, newSet))
    return new Map(oldSets.filter(isActiveSet).map((set) => [nameOf(set), 0]))
  return isRolling(deployment) ? proportionalSizes(deployment, active) : new Map()
}

/** Whether a set is all that its Deployment asks for. */
const isSaturated = (deployment: Deployment, set: ReplicaSet): boolean =>
  [replicasOf(set), desiredReplicas(set), availableIn(set)].every((count) => count === replicasOf(deployment))

/**
 * Spreads what is to be added or taken over the sets by their sizes; what rounding leaves is for the largest. All sets
 * are in it, for their annotations.
 */
function proportionalSizes(deployment: Deployment, active: readonly ReplicaSet[]): Sizes {
  const toAdd = (replicasOf(deployment) > 0 ? mostOf(deployment) : 0) - wantedIn(active)
  // Largest first. Of equals, the newer ones grow first, and the older ones shrink first.
  const ordered = active.toSorted((a, b) => replicasOf(b) - replicasOf(a) || (toAdd > 0 ? byAge(b, a) : byAge(a, b)))
  const sizes = new Map<string, number>()
  let added = 0
  for (const set of ordered) {
    const left = toAdd - added
    const share = left === 0 ? 0 : fractionOf(set, deployment)
    const part = toAdd > 0 ? Math.min(share, left) : Math.max(share, left)
    sizes.set(nameOf(set), replicasOf(set) + part)
    added += part
  }
  const [largest] = ordered
  if (largest) sizes.set(nameOf(largest), Math.max(0, (sizes.get(nameOf(largest)) ?? 0) + toAdd - added))
  return sizes
}

/** By how much a set changes to keep its share of the Deployment, which was as large as the set's annotation says. */
function fractionOf(set: ReplicaSet, deployment: Deployment): number {
  const size = replicasOf(set)
  if (replicasOf(deployment) === 0) return -size
  const total = maxReplicas(set) || deployment.status?.replicas
  // Nobody knows how large it was.
  if (!total) return 0
  return Math.round((size * mostOf(deployment)) / total) - size
}

/** Older sets first. */
export function byAge(a: ReplicaSet, b: ReplicaSet): number {
  const [x = '', y = ''] = [a.metadata.creationTimestamp, b.metadata.creationTimestamp]
  if (x !== y) return x < y ? -1 : 1
  return nameOf(a) < nameOf(b) ? -1 : 1
}
