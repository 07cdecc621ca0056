/** The condition of a pod that the kubelet ends for the sake of the node (KEP-3329). */
import { timestamp } from '../../machinery/values/timestamp.ts'
import type { PodCondition } from '../../node/pods/pod-types.ts'
import type { Pod } from '../pod-types.ts'

/** Returns the conditions with `DisruptionTarget`; one that was set before, as by the API, is replaced. */
export function withDisruption(
  conditions: readonly PodCondition[],
  { metadata: { generation } }: Pod,
  message: string,
  now: number,
): PodCondition[] {
  const type = 'DisruptionTarget'
  const before = conditions.find((one) => one.type === type)
  const reason = 'TerminationByKubelet'
  if (before?.reason === reason && before.message === message) return [...conditions]
  return [
    ...conditions.filter((one) => one !== before),
    {
      type,
      status: 'True',
      reason,
      message,
      lastProbeTime: null as never,
      lastTransitionTime: before?.status === 'True' ? before.lastTransitionTime : timestamp(now),
      ...(generation !== undefined && { observedGeneration: generation }),
    },
  ]
}
