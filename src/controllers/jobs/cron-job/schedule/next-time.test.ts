import assert from 'node:assert/strict'
import { test } from 'node:test'
import { parseCronSchedule } from '../../../../api/batch/cron-schedule.ts'
import { clocksOf, nextTime, utcClocks } from './next-time.ts'

const next = (schedule: string, after: string, zone?: string): string | undefined => {
  const time = nextTime(parseCronSchedule(schedule), Date.parse(after), zone ? clocksOf(zone) : utcClocks)
  return time === undefined ? undefined : new Date(time).toISOString().replace(':00.000', '')
}

const cases: [schedule: string, after: string, next: string | undefined][] = [
  ['* * * * *', '2026-01-01T00:00:00Z', '2026-01-01T00:01Z'],
  ['* * * * *', '2026-01-01T00:00:59Z', '2026-01-01T00:01Z'],
  ['*/15 * * * *', '2026-01-01T00:45:00Z', '2026-01-01T01:00Z'],
  ['5/20 9-17 * * MON-FRI', '2026-01-02T17:45:00Z', '2026-01-05T09:05Z'],
  ['0 0 1 1 *', '2026-01-01T00:00:00Z', '2027-01-01T00:00Z'],
  ['@monthly', '2026-01-31T12:00:00Z', '2026-02-01T00:00Z'],
  ['@weekly', '2026-01-01T00:00:00Z', '2026-01-04T00:00Z'],
  ['0 12 29 2 *', '2026-01-01T00:00:00Z', '2028-02-29T12:00Z'],
  // If both days of month and of week are restricted, either matches; else both must.
  ['0 0 13 * FRI', '2026-01-03T00:00:00Z', '2026-01-09T00:00Z'],
  ['0 0 13 * FRI', '2026-01-10T00:00:00Z', '2026-01-13T00:00Z'],
  ['0 0 */2 * FRI', '2026-01-03T00:00:00Z', '2026-01-05T00:00Z'],
  ['0 0 31 2 *', '2026-01-01T00:00:00Z', undefined],
  ['@every 90m', '2026-01-01T00:00:00Z', '2026-01-01T01:30Z'],
]
for (const [schedule, after, expected] of cases)
  test(`${schedule} after ${after}`, () => assert.equal(next(schedule, after), expected))

const zoned: [schedule: string, zone: string, after: string, next: string | undefined][] = [
  ['30 4 * * *', 'Europe/Madrid', '2026-01-01T00:00:00Z', '2026-01-01T03:30Z'],
  ['30 4 * * *', 'Europe/Madrid', '2026-07-01T00:00:00Z', '2026-07-01T02:30Z'],
  ['0 9 * * *', 'Asia/Kolkata', '2026-01-01T04:00:00Z', '2026-01-02T03:30Z'],
  ['0 0 1 * *', 'America/New_York', '2026-01-31T12:00:00Z', '2026-02-01T05:00Z'],
  // Clocks go forward at 2:00: 2:30 does not exist.
  ['30 2 * * *', 'Europe/Madrid', '2026-03-28T12:00:00Z', '2026-03-30T00:30Z'],
  // Clocks go back at 3:00: 2:30 occurs twice.
  ['30 2 * * *', 'Europe/Madrid', '2026-10-24T12:00:00Z', '2026-10-25T00:30Z'],
  ['30 2 * * *', 'Europe/Madrid', '2026-10-25T00:30:00Z', '2026-10-25T01:30Z'],
  ['30 2 * * *', 'Europe/Madrid', '2026-10-25T01:30:00Z', '2026-10-26T01:30Z'],
  // In Santiago clocks go forward at midnight: the day begins at one o'clock.
  ['0 1 * * *', 'America/Santiago', '2026-09-05T12:00:00Z', '2026-09-06T04:00Z'],
  ['0 0 * * *', 'America/Santiago', '2026-09-05T12:00:00Z', '2026-09-07T03:00Z'],
  ['0 0 * * *', 'America/Santiago', '2026-04-04T12:00:00Z', '2026-04-05T04:00Z'],
]
for (const [schedule, zone, after, expected] of zoned)
  test(`${schedule} in ${zone} after ${after}`, () => assert.equal(next(schedule, after, zone), expected))

test('an unknown time zone is an error', () => assert.throws(() => clocksOf('Mars/Olympus'), RangeError))
