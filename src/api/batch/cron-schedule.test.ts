import assert from 'node:assert/strict'
import { test } from 'node:test'
import { parseCronSchedule } from './cron-schedule.ts'

test('cron schedules are parsed as by robfig/cron', () => {
  const schedule = parseCronSchedule('*/20 0-12/4 1,15 JAN-mar sun')
  assert.ok('minutes' in schedule)
  assert.deepEqual(
    [
      [...schedule.minutes],
      [...schedule.hours],
      [...schedule.daysOfMonth],
      [...schedule.months],
      [...schedule.daysOfWeek],
    ],
    [[0, 20, 40], [0, 4, 8, 12], [1, 15], [1, 2, 3], [0]],
  )
  assert.deepEqual(parseCronSchedule('@every 90s'), { everyMs: 90_000 })
  assert.deepEqual(parseCronSchedule('@hourly'), parseCronSchedule('0 * * * *'))
  for (const text of [
    '',
    '* * * *',
    '* * * * * *',
    '60 * * * *',
    '* * 0 * *',
    '5-1 * * * *',
    '@sometimes',
    '1-2-3 * * * *',
    '*/0 * * * *',
    'x * * * *',
  ])
    assert.throws(() => parseCronSchedule(text), text)
})
