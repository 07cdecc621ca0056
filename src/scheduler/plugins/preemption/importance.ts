/** Compares the importance of pods: higher priority first, then the one that has run longer. */
import type { PodInfo } from '../../framework/index.ts'

/** The start time of the pod, in ms; Infinity if it has not started. */
export function startOf({ pod }: PodInfo): number {
  const text = pod.status?.startTime
  return text ? Date.parse(text) : Number.POSITIVE_INFINITY
}

/** Sorts the more important pods first. */
export function byImportance(a: PodInfo, b: PodInfo): number {
  if (a.priority !== b.priority) return b.priority - a.priority
  const [x, y] = [startOf(a), startOf(b)]
  return x === y ? 0 : x - y
}
