/** The condition that says why a pod is about to be ended by somebody else (KEP-3329). */
import type { Pod } from '../../client/kinds.ts'
import { type PodCondition, podCondition } from './phase.ts'
import { rfc3339 } from './times.ts'

/** A patch of the status. */
export function withDisruption(
  pod: Pod,
  reason: string,
  message: string,
  now = Date.now(),
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
