/** Detects garbage pods, which no kubelet will terminate. */
import type { Node, Pod } from '../../../client/kinds.ts'
import { hasEnded } from '../../pods/phase.ts'

const outOfService = 'node.kubernetes.io/out-of-service'

/** Ended pods beyond the limit: evicted ones first, then the oldest. */
export function surplusEndedPods(ended: readonly Pod[], maxEnded: number): readonly Pod[] {
  const count = ended.length - maxEnded
  if (count <= 0) return []
  return [...ended].sort(byEvictionAndAge).slice(0, count)
}

const isEvicted = ({ status }: Pod): boolean => status?.reason === 'Evicted'

function byEvictionAndAge(one: Pod, other: Pod): number {
  if (isEvicted(one) !== isEvicted(other)) return isEvicted(one) ? -1 : 1
  const age = Date.parse(one.metadata.creationTimestamp ?? '') - Date.parse(other.metadata.creationTimestamp ?? '')
  return age || ((one.metadata.name ?? '') < (other.metadata.name ?? '') ? -1 : 1)
}

/** Returns true if a pod was deleted before it was scheduled: no kubelet will report its end. */
export const isUnscheduledAndDeleted = ({ metadata, spec }: Pod): boolean =>
  metadata.deletionTimestamp !== undefined && !spec?.nodeName

/** Returns true if a node is declared out of service (KEP-2268) and not ready. */
export const isDeclaredLost = ({ spec, status }: Node): boolean =>
  !status?.conditions?.some(({ type, status: value }) => type === 'Ready' && value === 'True') &&
  (spec?.taints?.some(({ key }) => key === outOfService) ?? false)

/** Returns true if a pod is deleted and its node is declared lost. */
export const isOnLostNode = ({ metadata }: Pod, node: Node | undefined): boolean =>
  metadata.deletionTimestamp !== undefined && node !== undefined && isDeclaredLost(node)

/** Index function: ended pods. */
export const ended = (pod: Pod): Iterable<string> => (hasEnded(pod) ? ['ended'] : [])
