/** Checks of a pod's status for its controller: active, ready, available. */
import type { Pod } from '../../client/kinds.ts'

export type PodCondition = NonNullable<NonNullable<Pod['status']>['conditions']>[number]

/** Returns the pod's condition of that type, if set. */
export const podCondition = ({ status }: Pod, type: string): PodCondition | undefined =>
  status?.conditions?.find((condition) => condition.type === type)

export const hasEnded = ({ status }: Pod): boolean => status?.phase === 'Succeeded' || status?.phase === 'Failed'

/** Returns true if the pod has neither ended nor been deleted. */
export const isActive = (pod: Pod): boolean => !hasEnded(pod) && !pod.metadata.deletionTimestamp

/** Returns true if the pod is deleted but has not ended. */
export const isTerminating = (pod: Pod): boolean => !hasEnded(pod) && pod.metadata.deletionTimestamp !== undefined

export const isReady = (pod: Pod): boolean => podCondition(pod, 'Ready')?.status === 'True'

/** The time at which a pod became ready, in ms since the epoch; undefined if it is not ready or the time is not set. */
export function readySince(pod: Pod): number | undefined {
  const ready = podCondition(pod, 'Ready')
  return ready?.status === 'True' && ready.lastTransitionTime ? Date.parse(ready.lastTransitionTime) : undefined
}

/** Time in ms until a pod is available if it stays ready: 0 if it is, Infinity if it is not ready. `now` is in ms. */
export function availableInMs(pod: Pod, minReadySeconds: number, now: number): number {
  if (!isReady(pod)) return Number.POSITIVE_INFINITY
  if (minReadySeconds === 0) return 0
  const since = readySince(pod)
  return since === undefined ? Number.POSITIVE_INFINITY : Math.max(0, since + minReadySeconds * 1000 - now)
}

/** Returns true if a pod has been ready for `minReadySeconds`. `now` is in ms. */
export const isAvailable = (pod: Pod, minReadySeconds: number, now: number): boolean =>
  availableInMs(pod, minReadySeconds, now) === 0

/** Time in ms until the next ready pod becomes available; undefined if no ready pod is waiting. `now` is in ms. */
export function nextAvailableMs(pods: readonly Pod[], minReadySeconds: number, now: number): number | undefined {
  const soonest = Math.min(...pods.map((pod) => availableInMs(pod, minReadySeconds, now)).filter((ms) => ms > 0))
  return Number.isFinite(soonest) ? soonest : undefined
}
