import assert from 'node:assert/strict'
import { test } from 'node:test'
import { cron, errorMessages, kind, prepared } from './batch.fixture.ts'

test('a CronJob update may keep values that are invalid on create', () => {
  const update = (now: object, before: object = {}): string[] =>
    errorMessages(kind('cronjobs').validate?.update?.(prepared(cron(now)), prepared(cron(before))))
  const create = (spec: object): string[] => errorMessages(kind('cronjobs').validate?.create?.(prepared(cron(spec))))
  const [zoned, both] = [{ schedule: 'TZ=UTC 0 * * * *' }, { schedule: 'CRON_TZ=UTC @hourly', timeZone: 'UTC' }]
  const instead = 'cannot use TZ or CRON_TZ in schedule, use timeZone field instead'
  assert.deepEqual(create(zoned), [`spec.schedule: Invalid value: "${zoned.schedule}": ${instead}`])
  assert.deepEqual(create(both), [`spec.schedule: Invalid value: "${both.schedule}": ${instead}`])
  assert.deepEqual(update(zoned), [`spec.schedule: Invalid value: "${zoned.schedule}": ${instead}`])
  assert.deepEqual(update({ schedule: 'TZ=Mars/Olympus 0 * * * *' }, zoned), [
    'spec.schedule: Invalid value: "TZ=Mars/Olympus 0 * * * *": provided bad location Mars/Olympus: unknown time ' +
      'zone Mars/Olympus',
  ])
  assert.deepEqual(update(zoned, zoned), [])
  assert.deepEqual(update(both, zoned), [
    `spec.schedule: Invalid value: "${both.schedule}": cannot use both timeZone field and TZ or CRON_TZ in schedule`,
  ])
  assert.deepEqual(update({ timeZone: 'Mars/Olympus' }, { timeZone: 'Mars/Olympus' }), [])
  const [long, old] = [prepared(cron()), prepared(cron())]
  long.metadata.name = 'x'.repeat(53)
  assert.deepEqual(errorMessages(kind('cronjobs').validate?.create?.(long)), [
    `metadata.name: Invalid value: "${'x'.repeat(53)}": must be no more than 52 characters`,
  ])
  assert.deepEqual(errorMessages(kind('cronjobs').validate?.update?.(long, old)), [])
  assert.deepEqual(kind('cronjobs').warnings?.(prepared(cron(zoned)), prepared(cron(zoned))), [
    'cannot use TZ or CRON_TZ in spec.spec.schedule, use timeZone instead, see ' +
      'https://kubernetes.io/docs/concepts/workloads/controllers/cron-jobs/ for more details',
  ])
})

test('time zones have the exact names of their tz database files', () => {
  for (const zone of [
    'UTC',
    'Europe/Berlin',
    'Asia/Kolkata',
    'US/Pacific',
    'Etc/GMT+5',
    'America/Argentina/ComodRivadavia',
  ])
    assert.deepEqual(errorMessages(kind('cronjobs').validate?.create?.(prepared(cron({ timeZone: zone })))), [], zone)
  for (const zone of [
    'utc',
    'europe/berlin',
    '+01:00',
    '+01',
    ' Europe/Berlin',
    '/Europe',
    'Europe/',
    '../Europe',
    'Europe/-Berlin',
    'Continent/AVeryLongCityName',
  ])
    assert.deepEqual(errorMessages(kind('cronjobs').validate?.create?.(prepared(cron({ timeZone: zone })))), [
      `spec.timeZone: Invalid value: "${zone}": unknown time zone ${zone}`,
    ])
})
