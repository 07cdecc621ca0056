/** The parsed schedule of a CronJob in its time zone. */
import { parseCronSchedule } from '../../../../api/batch/cron-schedule.ts'
import type { CronJob } from '../../../../client/kinds.ts'
import type { Next } from './missed-times.ts'
import { type Clocks, clocksOf, nextTime } from './next-time.ts'

export interface Schedule {
  readonly next: Next
  /** The reason and message of the event if the schedule is invalid. */
  readonly problem?: { readonly reason: string; readonly message: string }
}

/** Parses the schedule of a CronJob. An invalid one has no next time. */
export function scheduleOf({ spec }: CronJob): Schedule {
  const { schedule = '', timeZone } = spec ?? {}
  const never: Next = () => undefined
  let clocks: Clocks
  try {
    clocks = clocksOf(timeZone)
  } catch {
    return {
      next: never,
      problem: {
        reason: 'UnknownTimeZone',
        message: `invalid timeZone: ${JSON.stringify(timeZone)}: unknown time zone ${timeZone}`,
      },
    }
  }
  try {
    const parsed = parseCronSchedule(schedule)
    return { next: (after) => nextTime(parsed, after, clocks) }
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error)
    return {
      next: never,
      problem: { reason: 'UnparseableSchedule', message: `unparseable schedule: ${JSON.stringify(schedule)} : ${why}` },
    }
  }
}
