/** Which dead containers and sandboxes are removed. Pure functions over lists of the runtime, as upstream's. */
import { type Container, ContainerState, type PodSandbox, PodSandboxState } from '#protobuf/cri-runtime_pb.js'
import { containerNameOf, identityOf } from '../../cri/labels.ts'

/** Limits of dead containers (`--minimum-container-ttl-duration` and others of the kubelet's deprecated flags). */
export interface ContainerPolicy {
  /** In ms since the creation of a container. */
  readonly minAgeMs: number
  /** Dead containers of one name in a pod; negative: no limit. */
  readonly maxPerContainer: number
  /** Dead containers of the node; negative: no limit. */
  readonly maxContainers: number
}

export const defaultContainerPolicy: ContainerPolicy = { minAgeMs: 0, maxPerContainer: 1, maxContainers: -1 }

/**
 * The part of a pod that is retained: its newest containers and sandbox if it is live; the same if it has ended, except
 * under disk pressure; nothing of a pod that was deleted or evicted.
 */
export type Retention = 'live' | 'ended' | 'none'

export interface CollectionFacts {
  readonly retention: (uid: string) => Retention
  /** True under disk pressure: nothing is retained of pods that have ended. */
  readonly isUrgent: boolean
}

/** Dead containers of one name in one pod, newest first. */
interface Unit {
  readonly uid: string
  readonly containers: readonly Container[]
}

/** The dead containers to remove, oldest first. Containers of other programs than kubelets are never removed. */
export function deadContainersToRemove(
  all: readonly Container[],
  facts: CollectionFacts,
  { minAgeMs, maxPerContainer, maxContainers }: ContainerPolicy,
  now: number,
): Container[] {
  const units = unitsOf(all.filter((one) => isDead(one, facts, now) && now - createdMs(one) >= minAgeMs))
  const isUnused = ({ uid }: Unit): boolean => retainsNothing(uid, facts)
  const removed = units.filter(isUnused).flatMap(({ containers }) => containers)
  let rest = units.filter((unit) => !isUnused(unit))
  const limit = (perUnit: number): void => {
    // A live pod needs its newest container: for its status, its log, and the number of its restarts.
    const max = ({ uid }: Unit): number => Math.max(perUnit, facts.retention(uid) === 'live' ? 1 : 0)
    removed.push(...rest.flatMap((unit) => unit.containers.slice(max(unit))))
    rest = rest.map((unit) => ({ ...unit, containers: unit.containers.slice(0, max(unit)) }))
  }
  const count = (): number => rest.reduce((sum, { containers }) => sum + containers.length, 0)
  if (maxPerContainer >= 0) limit(maxPerContainer)
  if (maxContainers >= 0 && count() > maxContainers) {
    limit(Math.max(1, Math.floor(maxContainers / rest.length)))
    const removable = rest
      .flatMap(({ uid, containers }) => (facts.retention(uid) === 'live' ? containers.slice(1) : containers))
      .sort(oldestFirst)
    removed.push(...removable.slice(0, Math.max(0, count() - maxContainers)))
  }
  return removed.sort(oldestFirst)
}

/** The sandboxes to remove, oldest first: they have ended, have no containers, and are not the newest of their pod. */
export function deadSandboxesToRemove(
  sandboxes: readonly PodSandbox[],
  containers: readonly Container[],
  facts: CollectionFacts,
): PodSandbox[] {
  const used = new Set(containers.map(({ podSandboxId }) => podSandboxId))
  const byPod = Map.groupBy(sandboxes, ({ labels }) => identityOf(labels)?.uid)
  byPod.delete(undefined)
  return [...byPod]
    .flatMap(([uid = '', own]) => {
      const newestFirst = own.toSorted(oldestFirst).reverse()
      return retainsNothing(uid, facts) ? newestFirst : newestFirst.slice(1)
    })
    .filter(({ id, state }) => state !== PodSandboxState.SANDBOX_READY && !used.has(id))
    .sort(oldestFirst)
}

const retainsNothing = (uid: string, { retention, isUrgent }: CollectionFacts): boolean => {
  const retained = retention(uid)
  return retained === 'none' || (isUrgent && retained === 'ended')
}

function unitsOf(dead: readonly Container[]): Unit[] {
  const byName = Map.groupBy(dead, ({ labels }) => {
    const uid = identityOf(labels)?.uid
    return uid === undefined ? undefined : `${uid}/${containerNameOf(labels)}`
  })
  byName.delete(undefined)
  return [...byName.values()].map((containers) => ({
    uid: identityOf(containers[0]!.labels)!.uid,
    containers: containers.toSorted(oldestFirst).reverse(),
  }))
}

/** A container of a live pod that was created a moment ago is about to start: it makes none before it surplus. */
function isDead({ state, createdAt, labels }: Container, { retention }: CollectionFacts, now: number): boolean {
  if (state === ContainerState.CONTAINER_RUNNING) return false
  if (state !== ContainerState.CONTAINER_CREATED) return true
  return retention(identityOf(labels)?.uid ?? '') !== 'live' || now - createdMs({ createdAt }) > startLimitMs
}

/** A start takes less, in ms. */
const startLimitMs = 300_000

const createdMs = ({ createdAt }: { readonly createdAt: bigint }): number => Number(createdAt / 1_000_000n)

const oldestFirst = (a: { readonly createdAt: bigint }, b: { readonly createdAt: bigint }): number =>
  a.createdAt < b.createdAt ? -1 : a.createdAt > b.createdAt ? 1 : 0
