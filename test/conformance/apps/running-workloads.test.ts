/**
 * Tests of the conformance suite for workloads whose pods run
 * (`test/e2e/apps/{deployment,rc,replica_set,job,daemon_set}.go`), in its steps, on simulated nodes.
 */
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import type { DaemonSet, Deployment, Job, Pod, ReplicaSet, ReplicationController } from '../../../src/client/kinds.ts'
import type { KubeObject } from '../../../src/machinery/object.ts'
import { testCluster } from '../../support/test-cluster.ts'
import { waitFor } from '../../support/wait-for.ts'
import { names, Requests } from '../support/requests.ts'

const cluster = testCluster({ after }, { nodes: 2 })
const requests = async (namespace: string): Promise<Requests> => Requests.in(await cluster, namespace)

const template = (labels: Record<string, string>, image = 'agnhost:1', more: object = {}) => ({
  metadata: { creationTimestamp: null, labels },
  spec: { terminationGracePeriodSeconds: 1, containers: [{ name: 'c', image, resources: {} }], ...more },
})

test('Deployment should run the lifecycle of a Deployment', async () => {
  const api = await requests('deployment-life')
  const path = `${api.group('apps/v1')}/deployments/test-deployment`
  const labels = { 'test-deployment-static': 'true' }
  const selected = 'labelSelector=test-deployment-static%3Dtrue'
  const deployment = (replicas: number, image: string, more: Record<string, string> = {}) => ({
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { name: 'test-deployment', creationTimestamp: null, labels: { ...labels, ...more } },
    spec: {
      replicas,
      selector: { matchLabels: labels },
      template: template(labels, image),
      strategy: { type: 'RollingUpdate' },
    },
    status: {},
  })
  const { metadata } = await api.get(`/apis/apps/v1/deployments?${selected}`)
  const watched = await api.watch<Deployment>(`${api.group('apps/v1')}/deployments`, {
    labelSelector: 'test-deployment-static=true',
    resourceVersion: metadata.resourceVersion ?? '',
  })
  const rolledOut = (replicas: number, image: string) =>
    watched.next(`${replicas} replicas of ${image}`, ({ object: { spec, status = {} } }) => {
      const { readyReplicas, updatedReplicas, unavailableReplicas = 0 } = status
      return (
        readyReplicas === replicas &&
        updatedReplicas === replicas &&
        unavailableReplicas === 0 &&
        spec?.template.spec?.containers[0]?.image === image
      )
    })
  try {
    await api.post(`${api.group('apps/v1')}/deployments`, deployment(2, 'agnhost:1'))
    await watched.next('the addition', ({ type }) => type === 'ADDED')
    await watched.next('two replicas', ({ object }) => object.status?.readyReplicas === 2)
    const patch = {
      metadata: { labels: { 'test-deployment': 'patched' } },
      spec: {
        replicas: 1,
        template: { spec: { terminationGracePeriodSeconds: 2, containers: [{ name: 'c', image: 'pause:1' }] } },
      },
    }
    await api.patch(path, patch, 'strategic')
    await rolledOut(1, 'pause:1')
    assert.ok(names(await api.list(`/apis/apps/v1/deployments?${selected}`)).includes('test-deployment'))
    // Without a version: over what is there.
    await api.put(path, deployment(2, 'httpd:1', { 'test-deployment': 'updated' }))
    const updated = await api.get<Deployment>(`${path}/status`)
    assert.deepEqual(
      [updated.spec?.template.spec?.containers[0]?.image, updated.metadata.labels?.['test-deployment']],
      ['httpd:1', 'updated'],
    )
    await rolledOut(2, 'httpd:1')
    const status = { readyReplicas: 0, availableReplicas: 0 }
    await api.patch(
      `${path}/status`,
      { metadata: { labels: { 'test-deployment': 'patched-status' } }, status },
      'strategic',
    )
    // A write of the status does not change labels, and the controller corrects the status.
    assert.equal((await api.get(`${path}/status`)).metadata.labels?.['test-deployment'], 'updated')
    await rolledOut(2, 'httpd:1')
    await api.delete(`${api.group('apps/v1')}/deployments?${selected}`, { gracePeriodSeconds: 1 })
    await watched.next('the deletion', ({ type }) => type === 'DELETED')
  } finally {
    watched.stop()
  }
})

test(
  'ReplicationController ' + 'should test the lifecycle of a ReplicationController, in this order of events',
  async () => {
    const api = await requests('rc-life')
    const controllers = `${api.core}/replicationcontrollers`
    const path = `${controllers}/rc-test`
    const labels = { 'test-rc-static': 'true' }
    const selected = 'labelSelector=test-rc-static%3Dtrue'
    const watched = await api.watch<ReplicationController>(controllers, { labelSelector: 'test-rc-static=true' })
    const is = (replicas: number) => (one: { object: ReplicationController }) =>
      one.object.status?.replicas === replicas && one.object.status.readyReplicas === replicas
    const modified = ({ type }: { type: string }) => type === 'MODIFIED'
    try {
      await api.post(controllers, {
        apiVersion: 'v1',
        kind: 'ReplicationController',
        metadata: { name: 'rc-test', labels },
        spec: { replicas: 1, selector: labels, template: template(labels) },
      })
      await watched.next('the addition', ({ type }) => type === 'ADDED')
      await watched.next('a ready pod', is(1))
      const patched = await api.patch(
        path,
        { metadata: { creationTimestamp: null, labels: { 'test-rc': 'patched' } }, spec: {}, status: { replicas: 0 } },
        'strategic',
      )
      assert.equal(patched.metadata.labels?.['test-rc'], 'patched')
      await watched.next('the patch', modified)
      const told = await api.patch<ReplicationController>(
        `${path}/status`,
        { status: { readyReplicas: 0, availableReplicas: 0 } },
        'strategic',
      )
      assert.equal(told.status?.readyReplicas ?? 0, 0)
      await watched.next('the status', modified)
      await watched.next('the status to be put right', is(1))
      assert.equal((await api.get<ReplicationController>(`${path}/status`)).status?.replicas, 1)
      await api.patch(
        `${path}/scale`,
        { metadata: { creationTimestamp: null }, spec: { replicas: 2 }, status: { replicas: 0 } },
        'strategic',
      )
      await watched.next('the scale', modified)
      await watched.next('two ready pods', is(2))
      assert.equal((await api.get(path)).metadata.labels?.['test-rc'], 'patched')
      await api.update<ReplicationController>(
        path,
        (it) => ({ ...it, status: { ...it.status, availableReplicas: 1, readyReplicas: 1 } }),
        `${path}/status`,
      )
      await watched.next('the second status', modified)
      const [found] = await api.list(`/api/v1/replicationcontrollers?${selected}`)
      assert.deepEqual(found?.metadata.labels, { ...labels, 'test-rc': 'patched' })
      await api.delete(`${controllers}?${selected}`)
      await watched.next('the deletion', ({ type }) => type === 'DELETED')
    } finally {
      watched.stop()
    }
  },
)

test('ReplicationController should get and update a ReplicationController scale', async () => {
  const api = await requests('rc-scale')
  const path = `${api.core}/replicationcontrollers/e2e-rc`
  await api.post(`${api.core}/replicationcontrollers`, {
    apiVersion: 'v1',
    kind: 'ReplicationController',
    metadata: { name: 'e2e-rc' },
    spec: { replicas: 1, template: template({ name: 'e2e-rc' }) },
  })
  const has = (replicas: number) =>
    waitFor(`${replicas}`, async () => (await api.get<ReplicationController>(path)).status?.replicas === replicas)
  await has(1)
  const scale = await api.get<KubeObject & { spec: object; status: { replicas: number } }>(`${path}/scale`)
  assert.equal(scale.status.replicas, 1)
  await api.put(`${path}/scale`, {
    ...scale,
    metadata: { ...scale.metadata, resourceVersion: '' },
    spec: { replicas: 2 },
  })
  await has(2)
})

for (const [kind, plural, path] of [
  ['ReplicaSet', 'replicasets', 'apps/v1'],
  ['ReplicationController', 'replicationcontrollers', 'v1'],
] as const)
  test(`${kind} should serve a basic image on each replica with a public image: its pods run`, async () => {
    const api = await requests(`basic-${plural}`)
    const labels = { name: 'my-hostname-basic' }
    const at = `${path === 'v1' ? api.core : api.group(path)}/${plural}`
    const selector = kind === 'ReplicaSet' ? { matchLabels: labels } : labels
    await api.post(at, {
      apiVersion: path,
      kind,
      metadata: { name: 'my-hostname-basic' },
      spec: { replicas: 2, selector, template: template(labels) },
    })
    const pods = await waitFor('two pods', async () => {
      const pods = await api.list<Pod>(`${api.core}/pods?labelSelector=name%3Dmy-hostname-basic`)
      return pods.length === 2 && pods.every(({ status }) => status?.phase === 'Running') && pods
    })
    assert.equal(new Set(pods.map(({ status }) => status?.podIP)).size, 2)
    await waitFor(
      'the status',
      async () => (await api.get<ReplicaSet>(`${at}/my-hostname-basic`)).status?.availableReplicas === 2,
    )
  })

const job = (name: string, more: object = {}, labels: Record<string, string> = {}) => ({
  apiVersion: 'batch/v1',
  kind: 'Job',
  metadata: { name, creationTimestamp: null, labels },
  spec: {
    parallelism: 2,
    completions: 4,
    backoffLimit: 6,
    manualSelector: false,
    template: {
      metadata: { creationTimestamp: null, annotations: { 'simulation.typernetes.io/run-for': '1h' } },
      spec: {
        restartPolicy: 'Never',
        terminationGracePeriodSeconds: 0,
        containers: [{ name: 'c', image: 'busybox:1', resources: {} }],
      },
    },
    ...more,
  },
  status: {},
})

const jobPods = (api: Requests, name: string, count: number): Promise<readonly Pod[]> =>
  waitFor(`${count} pods to run`, async () => {
    const pods = await api.list<Pod>(`${api.core}/pods?labelSelector=batch.kubernetes.io/job-name%3D${name}`)
    return pods.filter(({ status }) => status?.phase === 'Running').length === count && pods
  })

test('Job should apply changes to a job status', async () => {
  const api = await requests('job-status')
  const path = `${api.group('batch/v1')}/jobs/running`
  const created = await api.post(`${api.group('batch/v1')}/jobs`, job('running'))
  await jobPods(api, 'running', 2)
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

test('Job should manage the lifecycle of a job', async () => {
  const api = await requests('job-life')
  const jobs = `${api.group('batch/v1')}/jobs`
  const selected = 'labelSelector=e2e-job-label%3Dlife'
  const { metadata } = await api.get(`${jobs}?${selected}`)
  const watched = await api.watch<Job>(jobs, {
    labelSelector: 'e2e-job-label=life',
    resourceVersion: metadata.resourceVersion ?? '',
  })
  try {
    const template = { spec: { restartPolicy: 'Never', containers: [{ name: 'c', image: 'busybox:1' }] } }
    const created = await api.post(jobs, job('life', { suspend: true, template }, { 'e2e-job-label': 'life' }))
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
    await waitFor('its end', async () => (await api.get<Job>(`${jobs}/life`)).status?.succeeded === 4, {
      deadlineMs: 30_000,
    })
    await api.delete(`${jobs}?${selected}`, { propagationPolicy: 'Background' })
    await watched.next('the deletion', ({ type }) => type === 'DELETED')
    assert.deepEqual(await api.list(`${jobs}?${selected}`), [])
  } finally {
    watched.stop()
  }
})

test('Job should delete a job', async () => {
  const api = await requests('job-deleted')
  const jobs = `${api.group('batch/v1')}/jobs`
  await api.post(jobs, job('foo'))
  await jobPods(api, 'foo', 2)
  await api.delete(`${jobs}/foo`, { propagationPolicy: 'Background' })
  await api.gone(`${jobs}/foo`)
  await waitFor('its pods to go', async () => (await api.list(`${api.core}/pods`)).length === 0)
})

test('Job should adopt matching orphans and release non-matching pods', async () => {
  const api = await requests('job-adopts')
  const made = await api.post(`${api.group('batch/v1')}/jobs`, job('adopt-release'))
  const [pod] = await jobPods(api, 'adopt-release', 2)
  const path = `${api.core}/pods/${pod?.metadata.name}`
  await api.update(path, (it) => ({ ...it, metadata: { ...it.metadata, ownerReferences: undefined } }))
  const owner = await waitFor('the adoption', async () =>
    (await api.get(path)).metadata.ownerReferences?.find((one) => one.controller),
  )
  assert.equal(owner.uid, made.metadata.uid)
  await api.update(path, (it) => ({ ...it, metadata: { ...it.metadata, labels: undefined } }))
  await waitFor('the release', async () => !(await api.get(path)).metadata.ownerReferences?.length)
})

/** The template of pods that succeed. */
const succeeds = {
  spec: { restartPolicy: 'Never', terminationGracePeriodSeconds: 0, containers: [{ name: 'c', image: 'busybox:1' }] },
}

const ended = (api: Requests, name: string, type: string): Promise<Job> =>
  waitFor(
    `${name} to be ${type}`,
    async () => {
      const job = await api.get<Job>(`${api.group('batch/v1')}/jobs/${name}`)
      return job.status?.conditions?.some((one) => one.type === type && one.status === 'True') && job
    },
    { deadlineMs: 30_000 },
  )

test('Job should create pods for an Indexed job with completion indexes and specified hostname', async () => {
  const api = await requests('job-indexed')
  await api.post(`${api.group('batch/v1')}/jobs`, job('indexed-job', { completionMode: 'Indexed', template: succeeds }))
  const { status } = await ended(api, 'indexed-job', 'Complete')
  assert.deepEqual([status?.succeeded, status?.completedIndexes], [4, '0-3'])
  const pods = await api.list<Pod>(`${api.core}/pods?labelSelector=batch.kubernetes.io/job-name%3Dindexed-job`)
  const indexes = pods.map(({ metadata, spec }) => [
    metadata.annotations?.['batch.kubernetes.io/job-completion-index'],
    spec?.hostname,
  ])
  assert.deepEqual(
    indexes.sort(),
    [0, 1, 2, 3].map((index) => [`${index}`, `indexed-job-${index}`]),
  )
})

test('Job with successPolicy should succeeded when all indexes succeeded', async () => {
  const api = await requests('job-success')
  const spec = {
    parallelism: 2,
    completions: 2,
    completionMode: 'Indexed',
    template: succeeds,
    successPolicy: { rules: [{ succeededIndexes: '0-1' }] },
  }
  await api.post(`${api.group('batch/v1')}/jobs`, job('with-success-policy', spec))
  const { status } = await ended(api, 'with-success-policy', 'Complete')
  assert.equal(status?.conditions?.find(({ type }) => type === 'SuccessCriteriaMet')?.status, 'True')
  assert.deepEqual([status?.active ?? 0, status?.ready, status?.terminating, status?.failed ?? 0], [0, 0, 0, 0])
})

test('Job should terminate job execution when the number of failed indexes exceeds maxFailedIndexes', async () => {
  const api = await requests('job-failed')
  const template = {
    metadata: {
      annotations: { 'simulation.typernetes.io/exit-code': '1', 'simulation.typernetes.io/run-for': '10ms' },
    },
    ...succeeds,
  }
  const limits = { backoffLimit: null, backoffLimitPerIndex: 0, maxFailedIndexes: 0 }
  await api.post(
    `${api.group('batch/v1')}/jobs`,
    job('with-max-failed-indexes', { parallelism: 1, completionMode: 'Indexed', template, ...limits }),
  )
  const { status } = await ended(api, 'with-max-failed-indexes', 'Failed')
  assert.deepEqual(
    [status?.failed, status?.succeeded ?? 0, status?.failedIndexes, status?.completedIndexes ?? ''],
    [1, 0, '0', ''],
  )
  assert.deepEqual([status?.active ?? 0, status?.ready, status?.terminating], [0, 0, 0])
  assert.deepEqual(
    status?.conditions?.map(({ type, reason }) => [type, reason]),
    [
      ['FailureTarget', 'MaxFailedIndexesExceeded'],
      ['Failed', 'MaxFailedIndexesExceeded'],
    ],
  )
})

test('Daemon set should run and stop complex daemon, by labels of nodes', async () => {
  const api = await requests('daemons')
  const path = `${api.group('apps/v1')}/daemonsets/daemon-set`
  const labels = { 'daemonset-name': 'daemon-set' }
  await api.post(`${api.group('apps/v1')}/daemonsets`, {
    apiVersion: 'apps/v1',
    kind: 'DaemonSet',
    metadata: { name: 'daemon-set' },
    spec: {
      selector: { matchLabels: labels },
      template: template(labels, 'httpd:1', { nodeSelector: { 'daemonset-color': 'blue' } }),
    },
  })
  const runs = (...nodes: readonly string[]) =>
    waitFor(`pods on ${nodes}`, async () => {
      const pods = await api.list<Pod>(`${api.core}/pods`)
      const { status } = await api.get<DaemonSet>(path)
      return (
        pods.length === nodes.length &&
        pods.every(({ spec, status }) => nodes.includes(spec?.nodeName ?? '') && status?.phase === 'Running') &&
        status?.numberReady === nodes.length
      )
    })
  const color = (value: string | null) =>
    api.patch('/api/v1/nodes/node-1', { metadata: { labels: { 'daemonset-color': value } } })
  await runs()
  await color('blue')
  await runs('node-1')
  await color('green')
  await runs()
  await api.patch(
    path,
    {
      spec: {
        template: { spec: { nodeSelector: { 'daemonset-color': 'green' } } },
        updateStrategy: { type: 'RollingUpdate' },
      },
    },
    'strategic',
  )
  await runs('node-1')
  await color(null)
  await runs()
})
