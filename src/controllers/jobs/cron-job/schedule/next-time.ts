/** Computes the next time of a cron schedule in a time zone, like robfig/cron, which upstream uses. */
import type { CronSchedule } from '../../../../api/batch/cron-schedule.ts'

/** A local time. `day` is the day of the month, `weekday` is 0 on Sundays. */
interface LocalTime {
  readonly month: number
  readonly day: number
  readonly weekday: number
  readonly hour: number
  readonly minute: number
}

/** Converts a time in ms since the epoch to local time. */
export type Clocks = (time: number) => LocalTime

const minuteMs = 60_000
const hourMs = 60 * minuteMs
const dayMs = 24 * hourMs
/** Schedules without a time in five years have none, for example 31 February. */
const searchMs = 5 * 366 * dayMs

export const utcClocks: Clocks = (time) => {
  const date = new Date(time)
  return {
    month: date.getUTCMonth() + 1,
    day: date.getUTCDate(),
    weekday: date.getUTCDay(),
    hour: date.getUTCHours(),
    minute: date.getUTCMinutes(),
  }
}

/** The clocks of an IANA time zone. Default: this machine's zone. Throws a RangeError for an unknown zone. */
export function clocksOf(timeZone: string | undefined): Clocks {
  const format = new Intl.DateTimeFormat('en-US', {
    timeZone,
    calendar: 'gregory',
    hourCycle: 'h23',
    year: 'numeric',
    month: 'numeric',
    day: 'numeric',
    hour: 'numeric',
    minute: 'numeric',
  })
  if (format.resolvedOptions().timeZone === 'UTC') return utcClocks
  return (time) => {
    // 1/31/2026, 23:59
    const [month = 1, day = 1, year = 1970, hour = 0, minute = 0] = (format.format(time).match(/\d+/g) ?? []).map(
      Number,
    )
    return { month, day, hour, minute, weekday: new Date(Date.UTC(year, month - 1, day)).getUTCDay() }
  }
}

/**
 * Returns the first time of a schedule after `after`, both in ms since the epoch; undefined if none exists. Local times
 * that clocks skip when they go forward never occur; those repeated when they go back occur twice.
 */
export function nextTime(schedule: CronSchedule, after: number, clocks: Clocks): number | undefined {
  if ('everyMs' in schedule) return Math.floor(after / 1000) * 1000 + schedule.everyMs
  let time = Math.floor(after / minuteMs) * minuteMs + minuteMs
  for (const end = time + searchMs; time < end; ) {
    const local = clocks(time)
    if (!isDue(schedule, local)) time = startOfNextDay(time, local, clocks)
    else if (!schedule.hours.has(local.hour)) time += (60 - local.minute) * minuteMs
    else if (!schedule.minutes.has(local.minute)) time += minuteMs
    else return time
  }
}

/** Returns true on days of the schedule: if days of the month and of the week are given, either is enough. */
function isDue(
  { months, daysOfMonth, daysOfWeek, anyDayOfMonth, anyDayOfWeek }: Exclude<CronSchedule, { everyMs: number }>,
  { month, day, weekday }: LocalTime,
): boolean {
  if (!months.has(month)) return false
  return anyDayOfMonth || anyDayOfWeek
    ? daysOfMonth.has(day) && daysOfWeek.has(weekday)
    : daysOfMonth.has(day) || daysOfWeek.has(weekday)
}

/** Days on which clocks change have 23 or 25 hours, and some begin at one o'clock. */
function startOfNextDay(time: number, { day, hour, minute }: LocalTime, clocks: Clocks): number {
  const guess = time + dayMs - hour * hourMs - minute * minuteMs
  const local = clocks(guess)
  if (local.hour === 0 && local.minute === 0) return guess
  if (local.day === day) return guess + (24 - local.hour) * hourMs - local.minute * minuteMs
  const earlier = guess - local.hour * hourMs - local.minute * minuteMs
  // Midnight may not exist.
  return clocks(earlier).day === local.day ? earlier : guess
}
