/** When a cron schedule comes next, by the clocks of a time zone: as robfig/cron has it, which upstream uses. */
import type { CronSchedule } from '../../../api/batch/cron-schedule.ts'

/** What clocks show somewhere. `day` is that of the month, `weekday` 0 on Sundays. */
interface LocalTime {
  readonly month: number
  readonly day: number
  readonly weekday: number
  readonly hour: number
  readonly minute: number
}

/** What clocks show at a time, in ms since 1970. */
export type Clocks = (time: number) => LocalTime

const minuteMs = 60_000
const hourMs = 60 * minuteMs
const dayMs = 24 * hourMs
/** What does not come within five years does not come: 31 February. */
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

/** The clocks of an IANA time zone, or of this machine's. Throws a RangeError for one that nobody knows. */
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
 * The first time of a schedule after another one, both in ms since 1970; undefined if there is none. What clocks skip
 * when they are put forward does not come, what they show twice when they are put back comes twice.
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

/** Whether it is a day of the schedule: where days of the month and of the week are named, either is enough. */
function isDue(
  { months, daysOfMonth, daysOfWeek, anyDayOfMonth, anyDayOfWeek }: Exclude<CronSchedule, { everyMs: number }>,
  { month, day, weekday }: LocalTime,
): boolean {
  if (!months.has(month)) return false
  return anyDayOfMonth || anyDayOfWeek
    ? daysOfMonth.has(day) && daysOfWeek.has(weekday)
    : daysOfMonth.has(day) || daysOfWeek.has(weekday)
}

/** Days in which clocks are changed have 23 or 25 hours, and some begin at one o'clock. */
function startOfNextDay(time: number, { day, hour, minute }: LocalTime, clocks: Clocks): number {
  const guess = time + dayMs - hour * hourMs - minute * minuteMs
  const there = clocks(guess)
  if (there.hour === 0 && there.minute === 0) return guess
  if (there.day === day) return guess + (24 - there.hour) * hourMs - there.minute * minuteMs
  const earlier = guess - there.hour * hourMs - there.minute * minuteMs
  // Midnight itself may be missing.
  return clocks(earlier).day === there.day ? earlier : guess
}
