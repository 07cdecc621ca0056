/**
 * Tests of the conformance suite for the APIs of workloads (`test/e2e/apps/{cronjob,disruption,replica_set,rc}.go`)
 * that need no running pods.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { AppsV1Api, BatchV1Api, PolicyV1Api, Watch } from '@kubernetes/client-node'
import { waitFor } from '../../support/wait-for.ts'
import { type Clients, conformanceClients, merging, pod } from '../support/clients.ts'

const clients = conformanceClients()
const template = { metadata: { labels: { app: 'a' } }, spec: pod('p').spec }
const names = (items: readonly { metadata?: { name?: string } }[]): (string | undefined)[] =>
  items.map(({ metadata }) => metadata?.name)

/** Resolves with the first event for which `is` returns true, of those during and after `act`. */
async function event(
  { config }: Clients,
  path: string,
  is: (type: string, object: Record<string, unknown>) => boolean,
  act: () => Promise<unknown>,
): Promise<void> {
  let found = false
  const controller = await new Watch(config).watch(
    path,
    {},
    (type, object) => (found ||= is(type, object)),
    () => {},
  )
  try {
    await act()
    await waitFor('the event', () => found)
  } finally {
    controller.abort()
  }
}

test('CronJob should support CronJob API operations', async () => {
  const { config, namespace: make } = clients()
  const api = config.makeApiClient(BatchV1Api)
  const namespace = await make('cron-job-api')
  const groups = await api.getAPIResources()
  assert.ok(
    ['cronjobs', 'cronjobs/status'].every((name) => groups.resources.some((resource) => resource.name === name)),
  )
  const jobTemplate = { spec: { template: { spec: { ...pod('p').spec, restartPolicy: 'OnFailure' } } } }
  const spec = { schedule: '* */1 * * ?', concurrencyPolicy: 'Allow', suspend: true, jobTemplate }
  for (const name of ['one', 'two', 'three'])
    await api.createNamespacedCronJob({ namespace, body: { metadata: { name, labels: { special: 'yes' } }, spec } })
  assert.deepEqual(names((await api.listNamespacedCronJob({ namespace, labelSelector: 'special=yes' })).items), [
    'one',
    'three',
    'two',
  ])
  assert.equal((await api.listCronJobForAllNamespaces({ labelSelector: 'special=yes' })).items.length, 3)
  const path = `/apis/batch/v1/namespaces/${namespace}/cronjobs`
  await event(
    clients(),
    path,
    (type, { metadata }) => type === 'MODIFIED' && JSON.stringify(metadata).includes('"patched":"true"'),
    () =>
      api.patchNamespacedCronJob(
        { namespace, name: 'one', body: { metadata: { annotations: { patched: 'true' } } } },
        merging,
      ),
  )
  const patched = await api.readNamespacedCronJob({ namespace, name: 'one' })
  const replaced = await api.replaceNamespacedCronJob({
    namespace,
    name: 'one',
    body: { ...patched, metadata: { ...patched.metadata, annotations: { updated: 'true' } } },
  })
  assert.deepEqual(replaced.metadata?.annotations, { updated: 'true' })
  const status = { lastScheduleTime: '2026-01-01T00:00:00Z' }
  const withStatus = await api.patchNamespacedCronJobStatus(
    { namespace, name: 'one', body: { metadata: { annotations: { status: 'patched' } }, status } },
    merging,
  )
  assert.equal(withStatus.status?.lastScheduleTime?.toISOString(), '2026-01-01T00:00:00.000Z')
  assert.equal(withStatus.metadata?.annotations?.status, 'patched')
  const next = await api.replaceNamespacedCronJobStatus({
    namespace,
    name: 'one',
    body: { ...withStatus, status: { lastScheduleTime: new Date('2026-01-02T00:00:00Z') } },
  })
  assert.equal(next.status?.lastScheduleTime?.toISOString(), '2026-01-02T00:00:00.000Z')
  assert.equal(
    (await api.readNamespacedCronJobStatus({ namespace, name: 'one' })).status?.lastScheduleTime?.toISOString(),
    '2026-01-02T00:00:00.000Z',
  )
  await api.deleteNamespacedCronJob({ namespace, name: 'one' })
  await assert.rejects(api.readNamespacedCronJob({ namespace, name: 'one' }), { code: 404 })
  await api.deleteCollectionNamespacedCronJob({ namespace, labelSelector: 'special=yes' })
  assert.deepEqual((await api.listNamespacedCronJob({ namespace })).items, [])
})

test('DisruptionController should create a PodDisruptionBudget', async () => {
  const { config, namespace: make } = clients()
  const api = config.makeApiClient(PolicyV1Api)
  const namespace = await make('budget')
  const body = { metadata: { name: 'default' }, spec: { minAvailable: 1, selector: { matchLabels: { app: 'a' } } } }
  await api.createNamespacedPodDisruptionBudget({ namespace, body })
  const made = await api.readNamespacedPodDisruptionBudget({ namespace, name: 'default' })
  const replaced = await api.replaceNamespacedPodDisruptionBudget({
    namespace,
    name: 'default',
    body: { ...made, spec: { ...made.spec, minAvailable: '2%' } },
  })
  assert.equal(replaced.spec?.minAvailable, '2%')
  const patched = await api.patchNamespacedPodDisruptionBudget(
    { namespace, name: 'default', body: { spec: { minAvailable: '3%' } } },
    merging,
  )
  assert.equal(patched.spec?.minAvailable, '3%')
  await api.deleteNamespacedPodDisruptionBudget({ namespace, name: 'default' })
  await assert.rejects(api.readNamespacedPodDisruptionBudget({ namespace, name: 'default' }), { code: 404 })
})

test(
  'DisruptionController Listing PodDisruptionBudgets for all namespaces should list and delete a collection of ' +
    'PodDisruptionBudgets',
  async () => {
    const { config, namespace: make } = clients()
    const api = config.makeApiClient(PolicyV1Api)
    const [first, second] = [await make('budgets-1'), await make('budgets-2')]
    const body = (name: string) => ({
      metadata: { name, labels: { e2e: 'listed' } },
      spec: { minAvailable: 1, selector: { matchLabels: { app: 'a' } } },
    })
    for (const [namespace, name] of [
      [first, 'a'],
      [first, 'b'],
      [second, 'c'],
    ] as const)
      await api.createNamespacedPodDisruptionBudget({ namespace, body: body(name) })
    assert.deepEqual(
      names((await api.listPodDisruptionBudgetForAllNamespaces({ labelSelector: 'e2e=listed' })).items),
      ['a', 'b', 'c'],
    )
    assert.deepEqual(names((await api.listNamespacedPodDisruptionBudget({ namespace: first })).items), ['a', 'b'])
    await api.deleteCollectionNamespacedPodDisruptionBudget({ namespace: first })
    assert.deepEqual(
      names((await api.listPodDisruptionBudgetForAllNamespaces({ labelSelector: 'e2e=listed' })).items),
      ['c'],
    )
  },
)

const replicaSet = (name: string) => ({
  metadata: { name, labels: { app: 'a' } },
  spec: { replicas: 1, selector: { matchLabels: { app: 'a' } }, template },
})

test('ReplicaSet Replace and Patch tests', async () => {
  const { config, namespace: make } = clients()
  const api = config.makeApiClient(AppsV1Api)
  const namespace = await make('replica-set-replaced')
  const made = await api.createNamespacedReplicaSet({ namespace, body: replicaSet('rs') })
  const scale = await api.readNamespacedReplicaSetScale({ namespace, name: 'rs' })
  await api.replaceNamespacedReplicaSetScale({ namespace, name: 'rs', body: { ...scale, spec: { replicas: 2 } } })
  const scaled = await api.readNamespacedReplicaSet({ namespace, name: 'rs' })
  assert.deepEqual([scaled.spec?.replicas, scaled.metadata?.generation], [2, (made.metadata?.generation ?? 0) + 1])
  await api.replaceNamespacedReplicaSet({
    namespace,
    name: 'rs',
    body: { ...scaled, spec: { ...scaled.spec!, replicas: 1 } },
  })
  const patch = {
    metadata: { labels: { 'test-rs': 'patched' } },
    spec: { replicas: 3, template: { spec: { terminationGracePeriodSeconds: 0 } } },
  }
  const patched = await api.patchNamespacedReplicaSet({ namespace, name: 'rs', body: patch }, merging)
  assert.deepEqual(
    [
      patched.spec?.replicas,
      patched.metadata?.labels?.['test-rs'],
      patched.spec?.template?.spec?.terminationGracePeriodSeconds,
    ],
    [3, 'patched', 0],
  )
})

test('ReplicaSet should validate Replicaset Status endpoints', async () => {
  const { config, namespace: make } = clients()
  const api = config.makeApiClient(AppsV1Api)
  const namespace = await make('replica-set-status')
  await api.createNamespacedReplicaSet({ namespace, body: replicaSet('rs') })
  const read = await api.readNamespacedReplicaSetStatus({ namespace, name: 'rs' })
  const condition = (type: string) => ({ type, status: 'True', reason: 'E2E', message: 'Set by a test' })
  const replaced = await api.replaceNamespacedReplicaSetStatus({
    namespace,
    name: 'rs',
    body: { ...read, status: { replicas: 0, conditions: [condition('StatusUpdate')] } },
  })
  assert.deepEqual(
    replaced.status?.conditions?.map(({ type, message }) => [type, message]),
    [['StatusUpdate', 'Set by a test']],
  )
  const patched = await api.patchNamespacedReplicaSetStatus(
    { namespace, name: 'rs', body: { status: { conditions: [condition('StatusPatched')] } } },
    merging,
  )
  assert.deepEqual(
    [patched.status?.conditions?.map(({ type }) => type), patched.spec?.replicas],
    [['StatusPatched'], 1],
  )
})

const controller = (name: string, replicas: number) => ({
  metadata: { name, labels: { 'test-rc': 'yes' } },
  spec: { replicas, selector: { app: 'a' }, template },
})

test('ReplicationController should get and update a ReplicationController scale', async () => {
  const { core, namespace: make } = clients()
  const namespace = await make('rc-scale')
  await core.createNamespacedReplicationController({ namespace, body: controller('e2e-rc', 1) })
  const scale = await core.readNamespacedReplicationControllerScale({ namespace, name: 'e2e-rc' })
  assert.deepEqual([scale.spec?.replicas, scale.status?.selector], [1, 'app=a'])
  await core.replaceNamespacedReplicationControllerScale({
    namespace,
    name: 'e2e-rc',
    body: { ...scale, spec: { replicas: 2 } },
  })
  assert.equal((await core.readNamespacedReplicationController({ namespace, name: 'e2e-rc' })).spec?.replicas, 2)
})

test('ReplicationController should test the lifecycle of a ReplicationController', async () => {
  const { core, namespace: make } = clients()
  const namespace = await make('rc-lifecycle')
  const path = `/api/v1/namespaces/${namespace}/replicationcontrollers`
  await event(
    clients(),
    path,
    (type) => type === 'ADDED',
    () => core.createNamespacedReplicationController({ namespace, body: controller('rc-test', 1) }),
  )
  const patched = await core.patchNamespacedReplicationController(
    { namespace, name: 'rc-test', body: { metadata: { labels: { 'test-rc': 'patched' } } } },
    merging,
  )
  assert.equal(patched.metadata?.labels?.['test-rc'], 'patched')
  const withStatus = await core.patchNamespacedReplicationControllerStatus(
    { namespace, name: 'rc-test', body: { status: { replicas: 1, readyReplicas: 0 } } },
    merging,
  )
  assert.equal(withStatus.status?.replicas, 1)
  assert.equal(
    (await core.readNamespacedReplicationControllerStatus({ namespace, name: 'rc-test' })).status?.replicas,
    1,
  )
  await core.patchNamespacedReplicationControllerScale(
    { namespace, name: 'rc-test', body: { spec: { replicas: 2 } } },
    merging,
  )
  const scaled = await core.readNamespacedReplicationController({ namespace, name: 'rc-test' })
  assert.equal(scaled.spec?.replicas, 2)
  const replaced = await core.replaceNamespacedReplicationController({
    namespace,
    name: 'rc-test',
    body: { ...scaled, spec: { ...scaled.spec, replicas: 3 } },
  })
  assert.equal(replaced.spec?.replicas, 3)
  assert.deepEqual(
    names((await core.listReplicationControllerForAllNamespaces({ labelSelector: 'test-rc=patched' })).items),
    ['rc-test'],
  )
  await event(
    clients(),
    path,
    (type) => type === 'DELETED',
    () =>
      core.deleteCollectionNamespacedReplicationController({
        namespace,
        labelSelector: 'test-rc=patched',
        propagationPolicy: 'Background',
      }),
  )
})
