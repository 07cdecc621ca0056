/** Whether a node takes a pod that was assigned to it, and how it refuses one: as a kubelet does. */
import type { Pod } from '../../client/kinds.ts'
import { own } from '../../lib/own.ts'
import type { NodeAgent } from '../nodes/agent.ts'
import { requestsOf } from '../nodes/room.ts'
import { timestamp } from '../timing/timestamp.ts'
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
    return { reason: 'NodeAffinity', message: "Predicate NodeAffinity failed: node(s) didn't match Pod's node affinity/selector" }
  const short = room.shortage(requestsOf(pod))
  if (short) {
    const { resource, requested, used, capacity } = short
    return {
      reason: `OutOf${resource}`,
      message: `Node didn't have enough resource: ${resource}, requested: ${requested}, used: ${used}, capacity: ${capacity}`,
    }
  }
  const pressure = pressures[failure ?? '']
  if (pressure && !isCritical(pod)) return { reason: 'Evicted', message: `The node had condition: [${pressure}]. ` }
  return undefined
}

const pressures: Readonly<Record<string, string>> = { 'disk-pressure': 'DiskPressure', 'memory-pressure': 'MemoryPressure', 'pid-pressure': 'PIDPressure' }

const isCritical = ({ spec }: Pod): boolean => /^system-(node|cluster)-critical$/.test(spec?.priorityClassName ?? '')

/** The status of a pod that is refused. */
export const refusedStatus = (status: PodStatus, { reason, message }: Refusal, now: number): PodStatus => ({
  ...status,
  phase: 'Failed',
  reason,
  message: `Pod was rejected: ${message}`,
  startTime: timestamp(now),
})

export const refusalEvent = ({ reason, message }: Refusal): PodEvent => ({ type: 'Warning', reason, message })
