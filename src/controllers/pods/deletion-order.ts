/** The order in which surplus pods are deleted: least useful first, then newest first. */
import type { Pod } from '../../client/kinds.ts'
import { isReady, readySince } from './phase.ts'

const costAnnotation = 'controller.kubernetes.io/pod-deletion-cost'
const phases: Readonly<Record<string, number>> = { Pending: 0, Unknown: 1, Running: 2 }
const integer = /^(0|-?[1-9]\d*)$/
const int32 = 2 ** 31
const nanosecondsPerMs = 1e6

export interface DeletionOrder {
  /** All pods of the same workload: the pod on the node with more of them is deleted first. */
  readonly related: Iterable<Pod>
  /** In ms since the epoch. */
  readonly now: number
  /** True if the cost annotation is ignored (PodDeletionCost is off). */
  readonly ignoresCost?: boolean
}

/** Returns the `count` pods to delete first. */
export function podsToDelete(
  pods: readonly Pod[],
  count: number,
  { related, now, ignoresCost = false }: DeletionOrder,
): Pod[] {
  // No order is needed if all are deleted.
  if (count >= pods.length) return [...pods]
  const onNode = new Map<string, number>()
  for (const { spec } of related) if (spec?.nodeName) onNode.set(spec.nodeName, (onNode.get(spec.nodeName) ?? 0) + 1)
  const rank = ({ spec }: Pod): number => onNode.get(spec?.nodeName ?? '') ?? 0
  const order = (a: Pod, b: Pod): number =>
    byProgress(a, b) ||
    (ignoresCost ? 0 : deletionCost(a) - deletionCost(b)) ||
    rank(b) - rank(a) ||
    byAge(isReady(a) ? readySince(a) : 0, isReady(b) ? readySince(b) : 0, a, b, now) ||
    byRestarts(a, b) ||
    byAge(createdAt(a), createdAt(b), a, b, now)
  return pods.toSorted(order).slice(0, count)
}

/** Returns the `count` least advanced pods, for controllers that ignore deletion costs and other pods on the node. */
export function leastAdvanced(pods: readonly Pod[], count: number): Pod[] {
  const order = (a: Pod, b: Pod): number =>
    byProgress(a, b) ||
    newerFirst(isReady(a) ? readySince(a) : 0, isReady(b) ? readySince(b) : 0) ||
    byRestarts(a, b) ||
    newerFirst(createdAt(a), createdAt(b))
  return pods.toSorted(order).slice(0, count)
}

const byProgress = (a: Pod, b: Pod): number =>
  Number(isAssigned(a)) - Number(isAssigned(b)) || phaseOf(a) - phaseOf(b) || Number(isReady(a)) - Number(isReady(b))

const isAssigned = ({ spec }: Pod): boolean => Boolean(spec?.nodeName)

const phaseOf = ({ status }: Pod): number => phases[status?.phase ?? ''] ?? 0

/** The deletion cost from the pod's annotation (KEP-2255); 0 if missing or invalid. */
export function deletionCost({ metadata }: Pod): number {
  const text = metadata.annotations?.[costAnnotation] ?? ''
  const cost = integer.test(text) ? Number(text) : 0
  return cost >= -int32 && cost < int32 ? cost : 0
}

const createdAt = ({ metadata }: Pod): number | undefined =>
  metadata.creationTimestamp ? Date.parse(metadata.creationTimestamp) : undefined

/** Most restarts first; restarts of sidecars break ties. */
function byRestarts(a: Pod, b: Pod): number {
  return (
    maxRestarts(b.status?.containerStatuses) - maxRestarts(a.status?.containerStatuses) ||
    maxRestarts(sidecarStatuses(b)) - maxRestarts(sidecarStatuses(a))
  )
}

const maxRestarts = (statuses: readonly { readonly restartCount: number }[] = []): number =>
  Math.max(0, ...statuses.map(({ restartCount }) => restartCount))

function sidecarStatuses({ spec, status }: Pod) {
  const sidecars = new Set(
    spec?.initContainers?.filter(({ restartPolicy }) => restartPolicy === 'Always').map(({ name }) => name),
  )
  return status?.initContainerStatuses?.filter(({ name }) => sidecars.has(name))
}

/** Newest first; pods without a time before all others. */
function newerFirst(a: number | undefined, b: number | undefined): number {
  if (a === b) return 0
  return a === undefined || b === undefined ? (a === undefined ? -1 : 1) : b - a
}

/**
 * Newest first; pods without a time before all others. Ages of the same order of magnitude count as equal (KEP-2185);
 * the uid breaks ties, which is as good as random.
 */
function byAge(a: number | undefined, b: number | undefined, podA: Pod, podB: Pod, now: number): number {
  if (a === b) return 0
  if (a === undefined || b === undefined) return a === undefined ? -1 : 1
  return magnitude(now - a) - magnitude(now - b) || ((podA.metadata.uid ?? '') < (podB.metadata.uid ?? '') ? -1 : 1)
}

const magnitude = (ms: number): number => (ms > 0 ? Math.floor(Math.log2(ms * nanosecondsPerMs)) : -1)
