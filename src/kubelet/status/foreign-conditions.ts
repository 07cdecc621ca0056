/** Conditions of a pod that others write, such as those of its readiness gates. */
import { isKubeletCondition } from '../../node/pods/conditions.ts'
import type { PodStatus } from '../pod-types.ts'

/** Returns the kubelet's own status with the conditions of others as the pod's object has them. */
export function withForeignConditions(own: PodStatus | undefined, ofObject: PodStatus = {}): PodStatus {
  if (!own) return ofObject
  const mine = (own.conditions ?? []).filter(isKubeletCondition)
  const foreign = (ofObject.conditions ?? []).filter(
    (one) => !isKubeletCondition(one) && !mine.some(({ type }) => type === one.type),
  )
  return { ...own, conditions: [...mine, ...foreign] }
}
