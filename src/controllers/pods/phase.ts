/** What the status of a pod means to those who control it: whether it counts, is ready, and has been long enough. */
import type { Pod } from '../../client/kinds.ts'

export type PodCondition = NonNullable<NonNullable<Pod['status']>['conditions']>[number]

/** A pod's condition of that type, if it is told. */
export const podCondition = ({ status }: Pod, type: string): PodCondition | undefined =>
  status?.conditions?.find((condition) => condition.type === type)

export const hasEnded = ({ status }: Pod): boolean => status?.phase === 'Succeeded' || status?.phase === 'Failed'

/** Neither ended nor deleted. */
export const isActive = (pod: Pod): boolean => !hasEnded(pod) && !pod.metadata.deletionTimestamp

/** Deleted, and still running. */
export const isTerminating = (pod: Pod): boolean => !hasEnded(pod) && pod.metadata.deletionTimestamp !== undefined

export const isReady = (pod: Pod): boolean => podCondition(pod, 'Ready')?.status === 'True'

/** Since when a pod is ready, in milliseconds since the epoch; undefined for one that is not, or that does not say. */
export function readySince(pod: Pod): number | undefined {
  const ready = podCondition(pod, 'Ready')
  return ready?.status === 'True' && ready.lastTransitionTime ? Date.parse(ready.lastTransitionTime) : undefined
}

/**
 * In how many milliseconds a pod is available if it stays ready: 0 when it is, Infinity when it is not ready. `now` is
 * in milliseconds.
 */
export function availableInMs(pod: Pod, minReadySeconds: number, now: number): number {
  if (!isReady(pod)) return Number.POSITIVE_INFINITY
  if (minReadySeconds === 0) return 0
  const since = readySince(pod)
  return since === undefined ? Number.POSITIVE_INFINITY : Math.max(0, since + minReadySeconds * 1000 - now)
}

/** Whether a pod has been ready for `minReadySeconds`. `now` is in milliseconds. */
export const isAvailable = (pod: Pod, minReadySeconds: number, now: number): boolean =>
  availableInMs(pod, minReadySeconds, now) === 0

/**
 * In how many milliseconds the next of some pods is available that is ready already; undefined if there is none. `now`
 * is in milliseconds.
 */
export function nextAvailableMs(pods: readonly Pod[], minReadySeconds: number, now: number): number | undefined {
  const soonest = Math.min(...pods.map((pod) => availableInMs(pod, minReadySeconds, now)).filter((ms) => ms > 0))
  return Number.isFinite(soonest) ? soonest : undefined
}
