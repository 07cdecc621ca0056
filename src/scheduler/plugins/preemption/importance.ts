/** Which of two pods is more important: the one of higher priority, or the one that has run for longer. */
import type { PodInfo } from '../../framework/index.ts'

/** When the pod began, in ms; one that has not yet is the youngest. */
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
