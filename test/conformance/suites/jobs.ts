/** Tests of the conformance suite for Jobs (`test/e2e/apps/job.go`), in its steps, on nodes of both types. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Job } from '../../../src/client/kinds.ts'
import { inNamespace, type PodNodes } from '../support/pod-nodes.ts'
import type { Requests } from '../support/requests.ts'
import { type Act, eventually, fails, objectWhen, podsOf, stays, succeeds, template } from '../support/workloads.ts'

export interface JobOptions {
  readonly labels?: Readonly<Record<string, string>>
  /** More fields of pods. */
  readonly podSpec?: object
  readonly container?: object
}

/** Its pods are never restarted on their node, and are deleted without grace. */
export const job = (name: string, act: Act, spec: object = {}, { labels, podSpec, container }: JobOptions = {}) => {
  const fields = { restartPolicy: 'Never', terminationGracePeriodSeconds: 0, ...podSpec }
  return {
    apiVersion: 'batch/v1',
    kind: 'Job',
    metadata: { name, labels },
    spec: {
      parallelism: 2,
      completions: 4,
      template: template({ job: name }, { act, spec: fields, ...(container && { container }) }),
      ...spec,
    },
  }
}

export const jobsPath = (api: Requests): string => `${api.group('batch/v1')}/jobs`

export const jobPods = (api: Requests, name: string) => podsOf(api, { 'batch.kubernetes.io/job-name': name })

/** Resolves with the Job's pods when `count` of them run. */
export const runningJobPods = (api: Requests, name: string, count: number) =>
  eventually(api, `${count} pods of ${name} to run`, async () => {
    const pods = await jobPods(api, name)
    return pods.filter(({ status }) => status?.phase === 'Running').length === count && pods
  })

/** Resolves with the Job when a condition is true. */
export const jobWith = (api: Requests, name: string, type: string): Promise<Job> =>
  objectWhen<Job>(api, `${jobsPath(api)}/${name}`, `is ${type}`, ({ status }) =>
    (status?.conditions ?? []).some((one) => one.type === type && one.status === 'True'),
  )

/** Types and reasons of a Job's conditions. */
export const conditionsOf = ({ status }: Job) => status?.conditions?.map(({ type, reason }) => [type, reason])

export function jobSuite(nodes: Promise<PodNodes>): void {
  test('Job should apply changes to a job status', async () => {
    const api = await inNamespace(nodes, 'job-status')
    const path = `${jobsPath(api)}/running`
    const created = await api.post(jobsPath(api), job('running', stays))
    await runningJobPods(api, 'running', 2)
    const type = 'CustomConditionType'
    const timeOf = ({ status }: Job) => status?.conditions?.find((one) => one.type === type)?.lastTransitionTime
    const condition = { type, status: 'True', lastProbeTime: null, lastTransitionTime: '2026-01-01T00:00:00Z' }
    const patched = await api.patch<Job>(`${path}/status`, {
      metadata: { annotations: { patchedstatus: 'true' } },
      status: { conditions: [condition] },
    })
    assert.deepEqual([timeOf(patched), patched.metadata.annotations?.patchedstatus], ['2026-01-01T00:00:00Z', 'true'])
    const updated = await api.update<Job>(
      path,
      (it) => ({
        ...it,
        status: { ...it.status, conditions: [{ ...condition, lastTransitionTime: '2026-01-02T00:00:00Z' }] },
      }),
      `${path}/status`,
    )
    assert.equal(timeOf(updated), '2026-01-02T00:00:00Z')
    assert.equal((await api.get(`${path}/status`)).metadata.uid, created.metadata.uid)
  })

  defineLifecycle(nodes)
  defineOwnership(nodes)
  defineIndexedJobs(nodes)
}

function defineLifecycle(nodes: Promise<PodNodes>): void {
  test('Job should manage the lifecycle of a job', async () => {
    const api = await inNamespace(nodes, 'job-life')
    const jobs = jobsPath(api)
    const selected = 'labelSelector=e2e-job-label%3Dlife'
    const { metadata } = await api.get(`${jobs}?${selected}`)
    const watched = await api.watch<Job>(jobs, {
      labelSelector: 'e2e-job-label=life',
      resourceVersion: metadata.resourceVersion ?? '',
    })
    try {
      const suspended = job('life', succeeds, { suspend: true }, { labels: { 'e2e-job-label': 'life' } })
      const created = await api.post(jobs, suspended)
      const patched = await api.patch(`${jobs}/life`, { metadata: { labels: { life: 'patched' } } }, 'strategic')
      assert.ok(BigInt(patched.metadata.resourceVersion ?? 0) > BigInt(created.metadata.resourceVersion ?? 0))
      await watched.next(
        'the patch',
        ({ type, object }) => type === 'MODIFIED' && object.metadata.labels?.life === 'patched',
      )
      await api.update<Job>(`${jobs}/life`, (it) => ({
        ...it,
        metadata: { ...it.metadata, annotations: { ...it.metadata.annotations, updated: 'true' } },
        spec: { ...it.spec, suspend: false },
      }))
      await watched.next(
        'the update',
        ({ type, object }) => type === 'MODIFIED' && object.metadata.annotations?.updated === 'true',
      )
      const found = await api.list<Job>(`/apis/batch/v1/jobs?${selected}`)
      assert.deepEqual([found.length, found[0]?.spec?.suspend], [1, false])
      assert.equal((await jobWith(api, 'life', 'Complete')).status?.succeeded, 4)
      await api.delete(`${jobs}?${selected}`, { propagationPolicy: 'Background' })
      await watched.next('the deletion', ({ type }) => type === 'DELETED')
      assert.deepEqual(await api.list(`${jobs}?${selected}`), [])
    } finally {
      watched.stop()
    }
  })
}

function defineOwnership(nodes: Promise<PodNodes>): void {
  test('Job should delete a job', async () => {
    const api = await inNamespace(nodes, 'job-deleted')
    await api.post(jobsPath(api), job('foo', stays))
    await runningJobPods(api, 'foo', 2)
    await api.delete(`${jobsPath(api)}/foo`, { propagationPolicy: 'Background' })
    await api.gone(`${jobsPath(api)}/foo`)
    await eventually(api, 'its pods to go', async () => (await api.list(`${api.core}/pods`)).length === 0)
  })

  test('Job should adopt matching orphans and release non-matching pods', async () => {
    const api = await inNamespace(nodes, 'job-adopts')
    const made = await api.post(jobsPath(api), job('adopt-release', stays))
    const [pod] = await runningJobPods(api, 'adopt-release', 2)
    const path = `${api.core}/pods/${pod?.metadata.name}`
    await api.update(path, (it) => ({ ...it, metadata: { ...it.metadata, ownerReferences: undefined } }))
    const owner = await eventually(api, 'the adoption', async () =>
      (await api.get(path)).metadata.ownerReferences?.find((one) => one.controller),
    )
    assert.equal(owner.uid, made.metadata.uid)
    await api.update(path, (it) => ({ ...it, metadata: { ...it.metadata, labels: undefined } }))
    await eventually(api, 'the release', async () => !(await api.get(path)).metadata.ownerReferences?.length)
  })
}

function defineIndexedJobs(nodes: Promise<PodNodes>): void {
  test('Job should create pods for an Indexed job with completion indexes and specified hostname', async () => {
    const api = await inNamespace(nodes, 'job-indexed')
    const act = { ...succeeds, script: 'echo $JOB_COMPLETION_INDEX $(hostname)' }
    await api.post(jobsPath(api), job('indexed-job', act, { completionMode: 'Indexed' }))
    const { status } = await jobWith(api, 'indexed-job', 'Complete')
    assert.deepEqual([status?.succeeded, status?.completedIndexes], [4, '0-3'])
    const pods = await jobPods(api, 'indexed-job')
    const indexes = pods.map(({ metadata, spec }) => [
      metadata.annotations?.['batch.kubernetes.io/job-completion-index'],
      spec?.hostname,
    ])
    const wanted = [0, 1, 2, 3].map((index) => [`${index}`, `indexed-job-${index}`])
    assert.deepEqual(indexes.toSorted(), wanted)
    if (!api.nodes.areReal) return
    const logs = pods.map(({ metadata }) => api.nodes.cluster.text(`${api.core}/pods/${metadata.name}/log`))
    assert.deepEqual(
      (await Promise.all(logs)).toSorted(),
      wanted.map((words) => `${words.join(' ')}\n`),
    )
  })

  test('Job with successPolicy should succeeded when all indexes succeeded', async () => {
    const api = await inNamespace(nodes, 'job-success')
    const successPolicy = { rules: [{ succeededIndexes: '0-1' }] }
    const spec = { completions: 2, completionMode: 'Indexed', successPolicy }
    await api.post(jobsPath(api), job('with-success-policy', succeeds, spec))
    const done = await jobWith(api, 'with-success-policy', 'Complete')
    assert.deepEqual(conditionsOf(done), [
      ['SuccessCriteriaMet', 'SuccessPolicy'],
      ['Complete', 'SuccessPolicy'],
    ])
    const { active = 0, ready, terminating, failed = 0, completedIndexes } = done.status ?? {}
    assert.deepEqual([active, ready, terminating, failed, completedIndexes], [0, 0, 0, 0, '0,1'])
  })

  test('Job should terminate job execution when the number of failed indexes exceeds maxFailedIndexes', async () => {
    const api = await inNamespace(nodes, 'job-failed')
    const limits = { parallelism: 1, completionMode: 'Indexed', backoffLimitPerIndex: 0, maxFailedIndexes: 0 }
    await api.post(jobsPath(api), job('with-max-failed-indexes', fails(1), limits))
    const failed = await jobWith(api, 'with-max-failed-indexes', 'Failed')
    const { status } = failed
    assert.deepEqual(
      [status?.failed, status?.succeeded ?? 0, status?.failedIndexes, status?.completedIndexes ?? ''],
      [1, 0, '0', ''],
    )
    assert.deepEqual([status?.active ?? 0, status?.ready, status?.terminating], [0, 0, 0])
    assert.deepEqual(conditionsOf(failed), [
      ['FailureTarget', 'MaxFailedIndexesExceeded'],
      ['Failed', 'MaxFailedIndexesExceeded'],
    ])
  })
}
