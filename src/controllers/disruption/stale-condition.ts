/** Clears the DisruptionTarget condition of pods that were not deleted in time. */
import type { ReconcileContext } from '../../client/controller/controller.ts'
import { type Pod, pods } from '../../client/kinds.ts'
import { hasEnded, podCondition } from '../pods/phase.ts'
import { rfc3339 } from '../pods/times.ts'

const type = 'DisruptionTarget'
const staleAfterMs = 2 * 60_000

/**
 * Time in ms until the condition becomes stale, 0 if it is; undefined if it is missing or never stale. `now` is in ms.
 */
export function staleInMs(pod: Pod, now: number): number | undefined {
  const condition = podCondition(pod, type)
  if (pod.metadata.deletionTimestamp || hasEnded(pod) || condition?.status !== 'True') return undefined
  // Termination by the kubelet has no time limit.
  if (condition.reason === 'TerminationByKubelet') return undefined
  return Math.max(0, Date.parse(condition.lastTransitionTime ?? '') + staleAfterMs - now)
}

/** `now` is in ms. */
export async function clearCondition(
  { metadata: { namespace = '', name = '', uid, generation: observedGeneration } }: Pod,
  now: number,
  { client }: Pick<ReconcileContext, 'client'>,
): Promise<void> {
  const condition = {
    type,
    status: 'False',
    reason: null,
    message: null,
    observedGeneration,
    lastTransitionTime: rfc3339(now),
  }
  await client.patch(
    pods,
    namespace,
    name,
    { metadata: { uid }, status: { conditions: [condition] } },
    'strategic',
    'status',
  )
}
