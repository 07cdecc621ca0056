/** Whether a node takes a pod that was assigned to it, and how it refuses one: as a kubelet does. */
import type { Pod } from '../../client/kinds.ts'
import { own } from '../../lib/own.ts'
import { isTolerated } from '../../machinery/selectors/toleration.ts'
import type { NodeAgent } from '../nodes/agent.ts'
import { pressureOf } from '../nodes/conditions.ts'
import { requestsOf } from '../nodes/room.ts'
import { timestamp } from '../timing/timestamp.ts'
import { isCritical } from './eviction/ranking.ts'
import type { PodEvent, PodStatus } from './lifecycle/pod-parts.ts'

export interface Refusal {
  readonly reason: string
  readonly message: string
}

/** Undefined if there is nothing against it. */
export function refusalOf(pod: Pod, { node, room, failure }: NodeAgent): Refusal | undefined {
  const { nodeSelector = {} } = pod.spec ?? {}
  const labels = node.metadata.labels ?? {}
  if (Object.entries(nodeSelector).some(([key, value]) => own(labels, key) !== value))
    return {
      reason: 'NodeAffinity',
      message: "Predicate NodeAffinity failed: node(s) didn't match Pod's node affinity/selector",
    }
  const short = room.shortage(requestsOf(pod))
  if (short) {
    const { resource, requested, used, capacity } = short
    return {
      reason: `OutOf${resource}`,
      message:
        `Node didn't have enough resource: ${resource}, requested: ${requested}, used: ${used}, capacity: ` +
        `${capacity}`,
    }
  }
  const pressure = pressureOf(failure)
  if (pressure && !isCritical(pod) && !(pressure.resource === 'memory' && toleratesShortMemory(pod)))
    return { reason: 'Evicted', message: `The node had condition: [${pressure.condition}]. ` }
  return undefined
}

/**
 * Where memory is short, a node takes pods that say how much they need, and those that say that they can live with it.
 */
const toleratesShortMemory = ({ spec, status }: Pod): boolean =>
  status?.qosClass !== 'BestEffort' || isTolerated(shortMemory, spec?.tolerations)

const shortMemory = { key: 'node.kubernetes.io/memory-pressure', effect: 'NoSchedule' } as const

/** The status of a pod that is refused. */
export const refusedStatus = (status: PodStatus, { reason, message }: Refusal, now: number): PodStatus => ({
  ...status,
  phase: 'Failed',
  reason,
  message: `Pod was rejected: ${message}`,
  startTime: timestamp(now),
})

export const refusalEvent = ({ reason, message }: Refusal): PodEvent => ({ type: 'Warning', reason, message })
