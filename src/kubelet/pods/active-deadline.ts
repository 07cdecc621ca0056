/** The end of a pod that has been active for longer than `activeDeadlineSeconds`. */
import { type Pod, specOf, statusOf } from '../pod-types.ts'

export const deadlineExceeded = {
  reason: 'DeadlineExceeded',
  message: 'Pod was active on the node longer than the specified deadline',
} as const

/** The time in ms until the deadline, not above 0 if it is over; undefined without a deadline or a start time. */
export function activeMsLeft(pod: Pod, now: number): number | undefined {
  const { activeDeadlineSeconds } = specOf(pod)
  const { startTime } = statusOf(pod)
  if (activeDeadlineSeconds === undefined || !startTime) return undefined
  return Date.parse(startTime) + activeDeadlineSeconds * 1000 - now
}
