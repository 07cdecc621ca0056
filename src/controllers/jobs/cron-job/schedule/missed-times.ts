/** Finds the missed time that a CronJob has to make up for, and its next time. All times are in ms since the epoch. */
import type { CronJob } from '../../../../client/kinds.ts'

/** Returns the next time of a schedule after another time; undefined if none exists. */
export type Next = (after: number) => number | undefined

/** More missed times than this cause a warning event. */
const manyMissed = 100
/** A CronJob is requeued this much after its time, in ms, as timers and clocks are not exact. */
const lateMs = 100

interface RecentTime {
  readonly time: number | undefined
  readonly isFirst: boolean
  readonly missed: number
}

const lastTime = ({ metadata, status }: CronJob): number =>
  Date.parse(status?.lastScheduleTime ?? metadata.creationTimestamp ?? '')

/** Returns the last time of the schedule after `earliest` until now, and roughly how many. Throws if invalid. */
function recentTime(earliest: number, now: number, next: Next): RecentTime {
  const first = next(earliest)
  if (first !== undefined && now < first) return { time: undefined, isFirst: true, missed: 0 }
  const second = first === undefined ? undefined : next(first)
  if (first === undefined || second === undefined)
    throw new Error('time difference between two schedules is less than 1 second')
  if (now < second) return { time: first, isFirst: true, missed: 0 }
  const interval = second - first
  const missed = Math.floor((now - first) / interval) + 1
  // Intervals may vary, so the last times are checked one by one.
  let time: number | undefined
  for (let one = next(first + (missed - 2) * interval); one !== undefined && one <= now; one = next(one)) time = one
  return { time, isFirst: false, missed }
}

/** Returns the last scheduled time without a Job; undefined if none is due. */
export function dueTime(cron: CronJob, now: number, next: Next): { time: number | undefined; isTooMany: boolean } {
  const deadline = cron.spec?.startingDeadlineSeconds
  // Times past their deadline are not made up for.
  const earliest = Math.max(
    lastTime(cron),
    deadline === undefined ? Number.NEGATIVE_INFINITY : now - Number(deadline) * 1000,
  )
  const { time, missed } = recentTime(earliest, now, next)
  return { time, isTooMany: time !== undefined && missed > manyMissed }
}

/** Time in ms until the CronJob must be reconciled; undefined if its schedule has no further time. */
export function nextInMs(cron: CronJob, now: number, next: Next): number | undefined {
  const time = next(lastDue(cron, now, next))
  return time === undefined ? undefined : Math.max(0, time + lateMs - now)
}

function lastDue(cron: CronJob, now: number, next: Next): number {
  try {
    const { time, isFirst } = recentTime(lastTime(cron), now, next)
    return time ?? (isFirst ? lastTime(cron) : now)
  } catch {
    return now
  }
}
