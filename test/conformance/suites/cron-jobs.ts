/**
 * Tests of the conformance suite for CronJobs (`test/e2e/apps/cronjob.go`), in its steps, on nodes of both types. They
 * wait for the next full minute.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { CronJob, Job } from '../../../src/client/kinds.ts'
import { inNamespace, type PodNodes } from '../support/pod-nodes.ts'
import { names, type Requests } from '../support/requests.ts'
import { type Act, eventually, objectWhen, stays, succeeds, template } from '../support/workloads.ts'

const at = (api: Requests): string => `${api.group('batch/v1')}/cronjobs`

const cronJob = (name: string, concurrencyPolicy: string, act: Act, suspend = false, schedule = '*/1 * * * ?') => ({
  apiVersion: 'batch/v1',
  kind: 'CronJob',
  metadata: { name, labels: { special: 'yes' } },
  spec: {
    schedule,
    suspend,
    concurrencyPolicy,
    jobTemplate: {
      spec: { template: template({ cron: name }, { act, spec: { restartPolicy: 'OnFailure' } }) },
    },
  },
})

const jobsOf = async (api: Requests, name: string): Promise<readonly Job[]> =>
  (await api.list<Job>(`${api.group('batch/v1')}/jobs`)).filter(({ metadata }) =>
    metadata.ownerReferences?.some((owner) => owner.name === name),
  )

const activeWhen = (api: Requests, name: string, what: string, is: (active: readonly string[]) => boolean) =>
  objectWhen<CronJob>(api, `${at(api)}/${name}`, what, ({ status }) =>
    is((status?.active ?? []).map(({ name = '' }) => name)),
  )

/** Makes the Job of the last minute due: the schedule was not followed, as after a time without a controller. */
async function missed(api: Requests, name: string): Promise<void> {
  const lastScheduleTime = `${new Date(Date.now() - 90_000).toISOString().slice(0, 19)}Z`
  await api.patch(`${at(api)}/${name}/status`, { status: { lastScheduleTime } })
  // Writes of the status alone do not wake the controller.
  await api.patch(`${at(api)}/${name}`, { metadata: { annotations: { missed: 'yes' } } })
}

/** Resolves when two Jobs of the CronJob `clock` have been created at full minutes. */
async function minutePasses(api: Requests): Promise<void> {
  await api.post(at(api), cronJob('clock', 'Allow', succeeds))
  await eventually(api, 'a Job of the clock', async () => (await jobsOf(api, 'clock')).length > 0)
}

export function cronJobSuite(nodes: Promise<PodNodes>): void {
  definePolicies(nodes)
  test('CronJob should support CronJob API operations', async () => {
    const api = await inNamespace(nodes, 'cron-api')
    for (const name of ['one', 'two', 'three']) await api.post(at(api), cronJob(name, 'Allow', succeeds, true))
    const { metadata } = await api.get(at(api))
    assert.deepEqual(names(await api.list(`${at(api)}?labelSelector=special%3Dyes`)), ['one', 'three', 'two'])
    const everywhere = await api.list<CronJob>('/apis/batch/v1/cronjobs?labelSelector=special%3Dyes')
    assert.equal(everywhere.filter((one) => one.metadata.namespace === api.namespace).length, 3)
    const watched = await api.watch<CronJob>(at(api), { resourceVersion: metadata.resourceVersion ?? '' })
    const path = `${at(api)}/one`
    try {
      await api.patch(path, { metadata: { annotations: { patched: 'true' } } })
      await api.update<CronJob>(path, (it) => ({
        ...it,
        metadata: { ...it.metadata, annotations: { ...it.metadata.annotations, updated: 'true' } },
      }))
      await watched.next('the patch', ({ object }) => object.metadata.annotations?.patched === 'true')
      await watched.next('the update', ({ object }) => object.metadata.annotations?.updated === 'true')
    } finally {
      watched.stop()
    }
    const lastScheduleTime = '2026-01-01T00:00:00Z'
    const patched = await api.patch<CronJob>(`${path}/status`, {
      metadata: { annotations: { patchedstatus: 'true' } },
      status: { lastScheduleTime },
    })
    assert.deepEqual(
      [patched.status?.lastScheduleTime, patched.metadata.annotations?.patchedstatus],
      [lastScheduleTime, 'true'],
    )
    const next = '2026-01-02T00:00:00Z'
    await api.update<CronJob>(`${path}/status`, (it) => ({ ...it, status: { lastScheduleTime: next } }))
    assert.equal((await api.get<CronJob>(`${path}/status`)).status?.lastScheduleTime, next)
    await api.delete(path)
    await api.gone(path)
    await api.delete(`${at(api)}?labelSelector=special%3Dyes`)
    assert.deepEqual(await api.list(at(api)), [])
  })
}

function definePolicies(nodes: Promise<PodNodes>): void {
  test('CronJob should not schedule jobs when suspended', async () => {
    const api = await inNamespace(nodes, 'cron-suspended')
    await api.post(at(api), cronJob('suspended', 'Allow', succeeds, true))
    await minutePasses(api)
    assert.deepEqual(await jobsOf(api, 'suspended'), [])
  })

  test('CronJob should schedule multiple jobs concurrently', async () => {
    const api = await inNamespace(nodes, 'cron-concurrent')
    await api.post(at(api), cronJob('concurrent', 'Allow', stays))
    await missed(api, 'concurrent')
    await activeWhen(api, 'concurrent', 'has two active Jobs', ({ length }) => length >= 2)
    assert.ok((await jobsOf(api, 'concurrent')).length >= 2)
  })

  test('CronJob should not schedule new jobs when ForbidConcurrent', async () => {
    const api = await inNamespace(nodes, 'cron-forbid')
    await api.post(at(api), cronJob('forbid', 'Forbid', stays))
    await missed(api, 'forbid')
    const before = await activeWhen(api, 'forbid', 'has an active Job', ({ length }) => length === 1)
    assert.equal((await jobsOf(api, 'forbid')).length, 1)
    await minutePasses(api)
    assert.equal((await jobsOf(api, 'forbid')).length, 1)
    assert.deepEqual((await api.get<CronJob>(`${at(api)}/forbid`)).status?.active, before.status?.active)
  })

  test('CronJob should replace jobs when ReplaceConcurrent', async () => {
    const api = await inNamespace(nodes, 'cron-replace')
    await api.post(at(api), cronJob('replace', 'Replace', stays))
    await missed(api, 'replace')
    const { status } = await activeWhen(api, 'replace', 'has an active Job', ({ length }) => length === 1)
    const first = status?.active?.[0]?.name
    await activeWhen(
      api,
      'replace',
      'has another Job',
      ([name, ...more]) => name !== undefined && name !== first && !more.length,
    )
    await eventually(api, 'the end of the first Job', async () => !names(await jobsOf(api, 'replace')).includes(first))
  })
}
