import assert from 'node:assert/strict'
import { test } from 'node:test'
import { parseCronSchedule } from '../../../../api/batch/cron-schedule.ts'
import type { CronJob } from '../../../../client/kinds.ts'
import { dueTime, type Next, nextInMs } from './missed-times.ts'
import { nextTime, utcClocks } from './next-time.ts'

const cron = (created: string, last?: string, startingDeadlineSeconds?: number): CronJob => ({
  apiVersion: 'batch/v1',
  kind: 'CronJob',
  metadata: { name: 'c', creationTimestamp: created },
  spec: { schedule: '', jobTemplate: {}, startingDeadlineSeconds },
  status: { lastScheduleTime: last },
})
const every = (schedule: string): Next => {
  const parsed = parseCronSchedule(schedule)
  return (after) => nextTime(parsed, after, utcClocks)
}
const hourly = every('0 * * * *')
const at = (time: string): number => Date.parse(`2026-01-01T${time}Z`)
const due = (job: CronJob, now: string, next = hourly): [string | undefined, boolean] => {
  const { time, isTooMany } = dueTime(job, at(now), next)
  return [time === undefined ? undefined : new Date(time).toISOString().slice(11, 16), isTooMany]
}
const day = '2026-01-01T'

test('the last scheduled time without a Job is due', () => {
  assert.deepEqual(due(cron(`${day}09:30:00Z`), '09:59:59'), [undefined, false])
  assert.deepEqual(due(cron(`${day}09:30:00Z`), '10:00:00'), ['10:00', false])
  assert.deepEqual(due(cron(`${day}09:30:00Z`), '10:59:00'), ['10:00', false])
  assert.deepEqual(due(cron(`${day}09:30:00Z`, `${day}10:00:00Z`), '10:59:00'), [undefined, false])
  assert.deepEqual(due(cron(`${day}01:30:00Z`, `${day}02:00:00Z`), '12:10:00'), ['12:00', false])
})

test('a time past its starting deadline is not due', () => {
  assert.deepEqual(due(cron(`${day}01:30:00Z`, undefined, 600), '12:09:00'), ['12:00', false])
  assert.deepEqual(due(cron(`${day}01:30:00Z`, undefined, 600), '12:11:00'), [undefined, false])
  // The client reads integers beyond 2^53 as bigints.
  assert.deepEqual(due(cron(`${day}01:30:00Z`, undefined, (2n ** 63n - 1n) as unknown as number), '12:11:00'), [
    '12:00',
    false,
  ])
})

test('more than a hundred missed times are too many', () => {
  const minutely = every('* * * * *')
  assert.deepEqual(due(cron(`${day}00:00:00Z`), '01:40:30', minutely), ['01:40', false])
  assert.deepEqual(due(cron(`${day}00:00:00Z`), '01:41:30', minutely), ['01:41', true])
  assert.deepEqual(due(cron(`${day}00:00:00Z`, undefined, 120), '12:00:30', minutely), ['12:00', false])
})

test('schedules may have varying intervals', () => {
  const workingHours = every('0 9,17 * * *')
  assert.deepEqual(due(cron('2025-12-30T10:00:00Z'), '12:00:00', workingHours), ['09:00', false])
})

test('a schedule without a next time is an error', () => {
  assert.throws(
    () => due(cron(`${day}00:00:00Z`), '12:00:00', every('0 0 31 2 *')),
    /time difference between two schedules/,
  )
  assert.equal(nextInMs(cron(`${day}00:00:00Z`), at('12:00:00'), every('0 0 31 2 *')), undefined)
})

test('nextInMs is the time until the next scheduled time', () => {
  assert.equal(nextInMs(cron(`${day}09:30:00Z`), at('09:40:00'), hourly), 20 * 60_000 + 100)
  assert.equal(nextInMs(cron(`${day}09:30:00Z`, `${day}10:00:00Z`), at('10:00:01'), hourly), 59 * 60_000 + 59_100)
  assert.equal(nextInMs(cron(`${day}01:30:00Z`), at('10:30:00'), hourly), 30 * 60_000 + 100)
})
