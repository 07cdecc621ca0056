/** Takes back from pods that they are about to be disrupted, when nobody has deleted them in time. */
import type { ReconcileContext } from '../../client/controller/controller.ts'
import { type Pod, pods } from '../../client/kinds.ts'
import { hasEnded, podCondition } from '../pods/phase.ts'
import { rfc3339 } from '../pods/times.ts'

const type = 'DisruptionTarget'
const staleAfterMs = 2 * 60_000

/**
 * In how many ms the condition of a pod is stale, 0 if it is; undefined for one that has none, or whose condition
 * stays. `now`: ms.
 */
export function staleInMs(pod: Pod, now: number): number | undefined {
  const condition = podCondition(pod, type)
  if (pod.metadata.deletionTimestamp || hasEnded(pod) || condition?.status !== 'True') return undefined
  // A kubelet that ends a pod may take as long as it likes.
  if (condition.reason === 'TerminationByKubelet') return undefined
  return Math.max(0, Date.parse(condition.lastTransitionTime ?? '') + staleAfterMs - now)
}

/** `now`: milliseconds. */
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
