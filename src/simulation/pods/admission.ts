/** The admission of a pod on its node, as a kubelet does it. */
import type { Pod } from '../../client/kinds.ts'
import { own } from '../../lib/own.ts'
import { isTolerated } from '../../machinery/selectors/toleration.ts'
import { timestamp } from '../../machinery/values/timestamp.ts'
import type { PodEvent, PodStatus } from '../../node/pods/pod-types.ts'
import type { NodeAgent } from '../nodes/agent.ts'
import { pressureOf } from '../nodes/failures.ts'
import { requestsOf } from '../nodes/node-resources.ts'
import { isCritical } from './eviction/ranking.ts'

export interface Rejection {
  readonly reason: string
  readonly message: string
}

/** Returns the reason to reject the pod; undefined if it is admitted. */
export function rejectionOf(pod: Pod, { node, resources: room, failure }: NodeAgent): Rejection | undefined {
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

/** Under memory pressure a node admits pods with memory requests and pods that tolerate it. */
const toleratesShortMemory = ({ spec, status }: Pod): boolean =>
  status?.qosClass !== 'BestEffort' || isTolerated(shortMemory, spec?.tolerations)

const shortMemory = { key: 'node.kubernetes.io/memory-pressure', effect: 'NoSchedule' } as const

/** The status of a rejected pod. */
export const rejectedStatus = (status: PodStatus, { reason, message }: Rejection, now: number): PodStatus => ({
  ...status,
  phase: 'Failed',
  reason,
  message: `Pod was rejected: ${message}`,
  startTime: timestamp(now),
})

export const rejectionEvent = ({ reason, message }: Rejection): PodEvent => ({ type: 'Warning', reason, message })
