/** The reason why a node does not run a pod that was bound to it. */
import { timestamp } from '../../machinery/values/timestamp.ts'
import type { Pod, PodStatus } from '../pod-types.ts'

export interface Rejection {
  /** One word, for the event and the status. */
  readonly reason: string
  readonly message: string
}

/** Conditions that only kubelets write: a rejected pod has none of them. */
const ownConditions: ReadonlySet<string> = new Set([
  'PodReadyToStartContainers',
  'Initialized',
  'Ready',
  'ContainersReady',
  'PodScheduled',
])

/** The status of a rejected pod. `now` in ms since 1970. */
export function rejectedStatus(pod: Pod, before: PodStatus, { reason, message }: Rejection, now: number): PodStatus {
  const hasOthers = before.conditions?.some(({ type }) => !ownConditions.has(type))
  return {
    phase: 'Failed',
    ...(pod.metadata.generation !== undefined && { observedGeneration: pod.metadata.generation }),
    ...(hasOthers && { conditions: before.conditions }),
    reason,
    message: `Pod was rejected: ${message}`,
    startTime: before.startTime ?? timestamp(now),
    qosClass: before.qosClass,
  }
}
