import assert from 'node:assert/strict'
import { test } from 'node:test'
import { jobAt, timeIn } from './job-of-cron-job.ts'

const time = Date.parse('2026-07-01T02:30:00Z')

test('a Job is named after its minute and annotated with its scheduled time', () => {
  const spec = {
    schedule: '30 4 * * *',
    timeZone: 'Europe/Madrid',
    jobTemplate: { metadata: { labels: { a: 'b' }, annotations: { c: 'd' } }, spec: { template: {} } },
  }
  const job = jobAt(
    { apiVersion: 'batch/v1', kind: 'CronJob', metadata: { namespace: 'n', name: 'c', uid: 'u' }, spec },
    time,
  )
  assert.deepEqual(job, {
    apiVersion: 'batch/v1',
    kind: 'Job',
    metadata: {
      namespace: 'n',
      name: 'c-29714550',
      labels: { a: 'b' },
      annotations: { c: 'd', 'batch.kubernetes.io/cronjob-scheduled-timestamp': '2026-07-01T04:30:00+02:00' },
      ownerReferences: [
        { apiVersion: 'batch/v1', kind: 'CronJob', name: 'c', uid: 'u', controller: true, blockOwnerDeletion: true },
      ],
    },
    spec: { template: {} },
  })
})

test('timeIn formats times with the offset of the zone', () => {
  assert.equal(timeIn(time, undefined), '2026-07-01T02:30:00Z')
  assert.equal(timeIn(time, 'America/St_Johns'), '2026-07-01T00:00:00-02:30')
  assert.equal(timeIn(time, 'Etc/UTC'), '2026-07-01T02:30:00Z')
})
