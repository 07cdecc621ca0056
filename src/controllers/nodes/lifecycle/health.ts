/** When a node was last heard of, by the clock of whoever listens: that of the node may be wrong. */
import type { Lease, Node } from '../../../client/kinds.ts'
import { rfc3339 } from '../../pods/times.ts'

export type NodeCondition = NonNullable<NonNullable<Node['status']>['conditions']>[number]

export interface NodeHealth {
  /** The condition Ready as it was seen last. */
  readonly ready: NodeCondition | undefined
  /** `spec.renewTime` of the node's lease as it was seen last. */
  readonly renewTime: string | undefined
  /** When status or lease was seen to change, in ms since the epoch. */
  readonly heardAt: number
}

export interface GracePeriods {
  /** For nodes that have told their status (`--node-monitor-grace-period`), in ms. */
  readonly monitor: number
  /** For nodes that have not yet (`--node-startup-grace-period`), in ms. */
  readonly startup: number
}

export const readyCondition = ({ status }: Node): NodeCondition | undefined =>
  status?.conditions?.find(({ type }) => type === 'Ready')

/** What is known of a node after one more look at it. `now` is in ms since the epoch. */
export function heard(node: Node, lease: Lease | undefined, before: NodeHealth | undefined, now: number): NodeHealth {
  const ready = readyCondition(node)
  const renewTime = lease?.spec?.renewTime
  // Most looks find nothing new, and there are thousands of nodes.
  if (before && ready === before.ready && renewTime === before.renewTime) return before
  const isRenewed =
    renewTime !== undefined && (before?.renewTime === undefined || Date.parse(before.renewTime) < Date.parse(renewTime))
  if (!before) {
    const createdAt = Date.parse(node.metadata.creationTimestamp ?? '') || now
    return { ready, renewTime, heardAt: ready || isRenewed ? now : createdAt }
  }
  const isTold =
    ready === undefined
      ? before.ready !== undefined
      : before.ready?.lastHeartbeatTime !== ready.lastHeartbeatTime || before.ready === undefined
  return {
    ready,
    renewTime: isRenewed ? renewTime : before.renewTime,
    heardAt: isTold || isRenewed ? now : before.heardAt,
  }
}

/** Whether nothing was heard of a node for too long. */
export const isSilent = ({ ready, heardAt }: NodeHealth, { monitor, startup }: GracePeriods, now: number): boolean =>
  now > heardAt + (ready ? monitor : startup)

/** NetworkUnavailable is not the kubelet's to tell. */
const toldByKubelet: readonly string[] = ['Ready', 'MemoryPressure', 'DiskPressure', 'PIDPressure']

/** The conditions of a node that is silent; undefined if they say so already. */
export function conditionsOfSilent({ metadata, status }: Node, now: number): NodeCondition[] | undefined {
  const conditions = status?.conditions ?? []
  if (conditions.some(({ type, status: value }) => type === 'Ready' && value === 'Unknown')) return undefined
  const lastTransitionTime = rfc3339(now)
  const stopped = {
    status: 'Unknown',
    reason: 'NodeStatusUnknown',
    message: 'Kubelet stopped posting node status.',
    lastTransitionTime,
  }
  const never = {
    status: 'Unknown',
    reason: 'NodeStatusNeverUpdated',
    message: 'Kubelet never posted node status.',
    lastTransitionTime,
  }
  const missing = toldByKubelet.filter((type) => !conditions.some((condition) => condition.type === type))
  return [
    ...conditions.map((condition) =>
      toldByKubelet.includes(condition.type) && condition.status !== 'Unknown'
        ? { ...condition, ...stopped }
        : condition,
    ),
    ...missing.map((type) => ({ type, ...never, lastHeartbeatTime: metadata.creationTimestamp })),
  ]
}
