/** The DisruptionTarget condition: the reason why a pod is about to be terminated (KEP-3329). */
import type { Pod } from '../../client/kinds.ts'
import { type PodCondition, podCondition } from './phase.ts'
import { rfc3339 } from './times.ts'

/** Returns a status patch that sets the condition. `now` is in ms. */
export function withDisruption(
  pod: Pod,
  reason: string,
  message: string,
  now: number,
): { readonly conditions: readonly PodCondition[] } {
  const present = podCondition(pod, 'DisruptionTarget')
  const since = present?.status === 'True' ? present.lastTransitionTime : undefined
  const observedGeneration = pod.metadata.generation
  return {
    conditions: [
      {
        type: 'DisruptionTarget',
        status: 'True',
        reason,
        message,
        observedGeneration,
        lastTransitionTime: since ?? rfc3339(now),
      },
    ],
  }
}
