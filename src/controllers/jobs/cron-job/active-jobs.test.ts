import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { CronJob, Job } from '../../../client/kinds.ts'
import { activeJobs, referenceTo, surplusJobs } from './active-jobs.ts'

const job = (name: string, end?: 'Complete' | 'Failed', time = '2026-01-01T00:00:00Z'): Job => ({
  apiVersion: 'batch/v1',
  kind: 'Job',
  metadata: { namespace: 'n', name, uid: name },
  status: {
    startTime: time,
    ...(end === 'Complete' && { completionTime: time }),
    ...(end && { conditions: [{ type: end, status: 'True' }] }),
  },
})
const cron = (status: CronJob['status'], spec: object = {}): CronJob => ({
  apiVersion: 'batch/v1',
  kind: 'CronJob',
  metadata: { namespace: 'n', name: 'c' },
  spec: { schedule: '', jobTemplate: {}, ...spec },
  status,
})
const names = (jobs: readonly Job[]) => jobs.map(({ metadata }) => metadata.name)

test('finished and missing Jobs and Jobs of others are not active', () => {
  const status = {
    active: [job('runs'), job('done'), job('gone')].map(referenceTo),
    lastSuccessfulTime: '2025-12-31T00:00:00Z',
  }
  const found = activeJobs(cron(status), [
    job('runs'),
    job('done', 'Complete'),
    job('old', 'Complete', '2025-12-01T00:00:00Z'),
    job('other'),
  ])
  assert.deepEqual(
    found.active.map(({ name }) => name),
    ['runs', 'gone'],
  )
  assert.deepEqual(
    [names(found.ended), found.missing.map(({ name }) => name), names(found.unexpected)],
    [['done'], ['gone'], ['other']],
  )
  assert.equal(found.lastSuccessfulTime, '2026-01-01T00:00:00Z')
})

test('the newest finished Jobs are retained', () => {
  const time = (hour: number): string => `2026-01-01T0${hour}:00:00Z`
  const jobs = [
    job('c', 'Complete', time(3)),
    job('a', 'Complete', time(1)),
    job('b', 'Complete', time(2)),
    job('f', 'Failed'),
    job('g', 'Failed'),
    job('r'),
  ]
  assert.deepEqual(names(surplusJobs(cron({}, { successfulJobsHistoryLimit: 1, failedJobsHistoryLimit: 0 }), jobs)), [
    'a',
    'b',
    'f',
    'g',
  ])
  assert.deepEqual(names(surplusJobs(cron({}, { successfulJobsHistoryLimit: 3, failedJobsHistoryLimit: 1 }), jobs)), [
    'f',
  ])
  assert.deepEqual(surplusJobs(cron({}), jobs), [])
})
