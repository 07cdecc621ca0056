/**
 * Which time of its schedule a CronJob has to make up for, and when the next one is. All times are in ms since 1970.
 */
import type { CronJob } from '../../../client/kinds.ts'

/** The time of a schedule after another one; undefined if there is none. */
export type Next = (after: number) => number | undefined

/** Beyond these, somebody should know. */
const manyMissed = 100
/** A look at a CronJob comes so much later than its time, as timers and clocks are not exact. */
const lateMs = 100

interface RecentTime {
  readonly time: number | undefined
  readonly isFirst: boolean
  readonly missed: number
}

const lastTime = ({ metadata, status }: CronJob): number =>
  Date.parse(status?.lastScheduleTime ?? metadata.creationTimestamp ?? '')

/**
 * The last time of the schedule after `earliest` and up to now, and how many there were, roughly. Throws for a schedule
 * that makes no sense.
 */
function recentTime(earliest: number, now: number, next: Next): RecentTime {
  const first = next(earliest)
  if (first !== undefined && now < first) return { time: undefined, isFirst: true, missed: 0 }
  const second = first === undefined ? undefined : next(first)
  if (first === undefined || second === undefined)
    throw new Error('time difference between two schedules is less than 1 second')
  if (now < second) return { time: first, isFirst: true, missed: 0 }
  const interval = second - first
  const missed = Math.floor((now - first) / interval) + 1
  // Intervals may differ, so the last ones are looked at one by one.
  let time: number | undefined
  for (let one = next(first + (missed - 2) * interval); one !== undefined && one <= now; one = next(one)) time = one
  return { time, isFirst: false, missed }
}

/** What is due: the last time of the schedule that no Job was made for; undefined if there is none. */
export function dueTime(cron: CronJob, now: number, next: Next): { time: number | undefined; isTooMany: boolean } {
  const deadline = cron.spec?.startingDeadlineSeconds
  // What has passed its deadline is not made up for.
  const earliest = Math.max(
    lastTime(cron),
    deadline === undefined ? Number.NEGATIVE_INFINITY : now - Number(deadline) * 1000,
  )
  const { time, missed } = recentTime(earliest, now, next)
  return { time, isTooMany: time !== undefined && missed > manyMissed }
}

/** In how many ms the CronJob has to be looked at again; undefined if its schedule never comes again. */
export function nextInMs(cron: CronJob, now: number, next: Next): number | undefined {
  const time = next(from(cron, now, next))
  return time === undefined ? undefined : Math.max(0, time + lateMs - now)
}

function from(cron: CronJob, now: number, next: Next): number {
  try {
    const { time, isFirst } = recentTime(lastTime(cron), now, next)
    return time ?? (isFirst ? lastTime(cron) : now)
  } catch {
    return now
  }
}
