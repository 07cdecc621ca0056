/** Which pods nobody will end any more. */
import type { Node, Pod } from '../../../client/kinds.ts'
import { hasEnded } from '../../pods/phase.ts'

const outOfService = 'node.kubernetes.io/out-of-service'

/** Pods that have ended, beyond those that are kept: evicted ones first, then the oldest. */
export function surplus(ended: readonly Pod[], kept: number): readonly Pod[] {
  const count = ended.length - kept
  if (count <= 0) return []
  return [...ended].sort(byEvictionAndAge).slice(0, count)
}

const isEvicted = ({ status }: Pod): boolean => status?.reason === 'Evicted'

function byEvictionAndAge(one: Pod, other: Pod): number {
  if (isEvicted(one) !== isEvicted(other)) return isEvicted(one) ? -1 : 1
  const age = Date.parse(one.metadata.creationTimestamp ?? '') - Date.parse(other.metadata.creationTimestamp ?? '')
  return age || ((one.metadata.name ?? '') < (other.metadata.name ?? '') ? -1 : 1)
}

/** Deleted before any node had it: no kubelet will tell that it has ended. */
export const isUnscheduledAndDeleted = ({ metadata, spec }: Pod): boolean =>
  metadata.deletionTimestamp !== undefined && !spec?.nodeName

/** Whether somebody has declared a node to be down for good (KEP-2268), and it does not say otherwise. */
export const isDeclaredLost = ({ spec, status }: Node): boolean =>
  !status?.conditions?.some(({ type, status: value }) => type === 'Ready' && value === 'True') &&
  (spec?.taints?.some(({ key }) => key === outOfService) ?? false)

/** Deleted, on such a node. */
export const isOnLostNode = ({ metadata }: Pod, node: Node | undefined): boolean =>
  metadata.deletionTimestamp !== undefined && node !== undefined && isDeclaredLost(node)

/** The index of those that have ended. */
export const ended = (pod: Pod): Iterable<string> => (hasEnded(pod) ? ['ended'] : [])
