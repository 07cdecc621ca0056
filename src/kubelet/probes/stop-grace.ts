/** The time that a container has to end. */
import { type Container, type Pod, specOf } from '../pod-types.ts'
import type { Stop } from '../pods/plan/plan.ts'

const defaultGraceSeconds = 30

/**
 * A pod that is being deleted has the grace period of its deletion. Otherwise a failed liveness or startup probe may
 * have one of its own. In seconds.
 */
export function stopGraceSeconds(pod: Pod, { container, reason }: Pick<Stop, 'reason' | 'container'>): number {
  const { deletionGracePeriodSeconds } = pod.metadata
  if (deletionGracePeriodSeconds !== undefined) return deletionGracePeriodSeconds
  return graceOfProbe(container, reason) ?? specOf(pod).terminationGracePeriodSeconds ?? defaultGraceSeconds
}

function graceOfProbe({ livenessProbe, startupProbe }: Container, reason: Stop['reason']): number | undefined {
  if (reason === 'LivenessProbe') return livenessProbe?.terminationGracePeriodSeconds
  return reason === 'StartupProbe' ? startupProbe?.terminationGracePeriodSeconds : undefined
}
