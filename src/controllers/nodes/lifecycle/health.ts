/** Tracks when a node last reported, by the controller's clock, as the node's may be wrong. */
import type { Lease, Node } from '../../../client/kinds.ts'
import { rfc3339 } from '../../pods/times.ts'

export type NodeCondition = NonNullable<NonNullable<Node['status']>['conditions']>[number]

export interface NodeHealth {
  /** The last observed Ready condition. */
  readonly ready: NodeCondition | undefined
  /** The last observed `spec.renewTime` of the node's lease. */
  readonly renewTime: string | undefined
  /** Time of the last observed change of status or lease, in ms since the epoch. */
  readonly lastChangeAt: number
}

export interface GracePeriods {
  /** For nodes with a status (`--node-monitor-grace-period`), in ms. */
  readonly monitor: number
  /** For nodes without a status (`--node-startup-grace-period`), in ms. */
  readonly startup: number
}

export const readyCondition = ({ status }: Node): NodeCondition | undefined =>
  status?.conditions?.find(({ type }) => type === 'Ready')

/** Returns the health of a node after another check. `now` is in ms since the epoch. */
export function observedHealth(
  node: Node,
  lease: Lease | undefined,
  previous: NodeHealth | undefined,
  now: number,
): NodeHealth {
  const ready = readyCondition(node)
  const renewTime = lease?.spec?.renewTime
  // Fast path: most checks find no change, and clusters have thousands of nodes.
  if (previous && ready === previous.ready && renewTime === previous.renewTime) return previous
  const isRenewed =
    renewTime !== undefined &&
    (previous?.renewTime === undefined || Date.parse(previous.renewTime) < Date.parse(renewTime))
  if (!previous) {
    const createdAt = Date.parse(node.metadata.creationTimestamp ?? '') || now
    return { ready, renewTime, lastChangeAt: ready || isRenewed ? now : createdAt }
  }
  const isReported =
    ready === undefined
      ? previous.ready !== undefined
      : previous.ready?.lastHeartbeatTime !== ready.lastHeartbeatTime || previous.ready === undefined
  return {
    ready,
    renewTime: isRenewed ? renewTime : previous.renewTime,
    lastChangeAt: isReported || isRenewed ? now : previous.lastChangeAt,
  }
}

/** Returns true if a node has not reported within its grace period. */
export const isSilent = (
  { ready, lastChangeAt: heardAt }: NodeHealth,
  { monitor, startup }: GracePeriods,
  now: number,
): boolean => now > heardAt + (ready ? monitor : startup)

/** Conditions that the kubelet reports; NetworkUnavailable is not one. */
const kubeletConditions: readonly string[] = ['Ready', 'MemoryPressure', 'DiskPressure', 'PIDPressure']

/** Returns the conditions of a silent node; undefined if Ready is Unknown already. */
export function silentConditions({ metadata, status }: Node, now: number): NodeCondition[] | undefined {
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
  const missing = kubeletConditions.filter((type) => !conditions.some((condition) => condition.type === type))
  return [
    ...conditions.map((condition) =>
      kubeletConditions.includes(condition.type) && condition.status !== 'Unknown'
        ? { ...condition, ...stopped }
        : condition,
    ),
    ...missing.map((type) => ({ type, ...never, lastHeartbeatTime: metadata.creationTimestamp })),
  ]
}
