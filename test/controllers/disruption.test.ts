/** The status of PodDisruptionBudgets and evictions. The test simulates the kubelet and the controllers of pods. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { PodDisruptionBudget } from '../../src/client/kinds.ts'
import { installedKubectls, Kubectl } from '../support/kubectl.ts'
import { type TestCluster, testCluster } from '../support/test-cluster.ts'
import { waitFor } from '../support/wait-for.ts'

const core = '/api/v1/namespaces/default'
const budgets = '/apis/policy/v1/namespaces/default/poddisruptionbudgets'
const merge = 'application/merge-patch+json'
const selector = { matchLabels: { app: 'web' } }
const containers = [{ name: 'c', image: 'app:1' }]

const start = async (t: Parameters<typeof testCluster>[0]): Promise<TestCluster> => {
  const cluster = await testCluster(t, { controllers: ['serviceaccount', 'disruption'] })
  await waitFor('the account of pods', () => cluster.call('GET', `${core}/serviceaccounts/default`).then(() => true))
  return cluster
}

async function readyPod(cluster: TestCluster, name: string, more: object = {}): Promise<void> {
  await cluster.call('POST', `${core}/pods`, {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name, labels: { app: 'web' }, ...more },
    spec: { nodeName: 'n', containers },
  })
  const status = { phase: 'Running', conditions: [{ type: 'Ready', status: 'True' }] }
  await cluster.call('PATCH', `${core}/pods/${name}/status`, { status }, 'application/strategic-merge-patch+json')
}

const create = (cluster: TestCluster, name: string, spec: object) =>
  cluster.call('POST', budgets, {
    apiVersion: 'policy/v1',
    kind: 'PodDisruptionBudget',
    metadata: { name },
    spec: { selector, ...spec },
  })

const statusWith = (cluster: TestCluster, name: string, expected: Record<string, unknown>) =>
  waitFor(`${name} to have ${JSON.stringify(expected)}`, async () => {
    const { status } = (await cluster.call('GET', `${budgets}/${name}`)) as unknown as PodDisruptionBudget
    const members: Record<string, unknown> = { ...status }
    return Object.entries(expected).every(([field, value]) => members[field] === value) && status
  })

const evict = (cluster: TestCluster, name: string) =>
  cluster.call('POST', `${core}/pods/${name}/eviction`, {
    apiVersion: 'policy/v1',
    kind: 'Eviction',
    metadata: { name },
    deleteOptions: { gracePeriodSeconds: 0 },
  })

test('PodDisruptionBudget: block an eviction until the PDB is updated to allow it', async (t) => {
  const cluster = await start(t)
  await create(cluster, 'b', { minAvailable: 2 })
  for (const name of ['p0', 'p1']) await readyPod(cluster, name)
  const full = await statusWith(cluster, 'b', { currentHealthy: 2, disruptionsAllowed: 0, expectedPods: 2 })
  assert.deepEqual(
    full.conditions?.map(({ type, status, reason }) => [type, status, reason]),
    [['DisruptionAllowed', 'False', 'InsufficientPods']],
  )
  await assert.rejects(evict(cluster, 'p0'), / 429 /)
  await cluster.call('PATCH', `${budgets}/b`, { spec: { minAvailable: 1 } }, merge)
  await statusWith(cluster, 'b', { disruptionsAllowed: 1, observedGeneration: 2 })
  await evict(cluster, 'p0')
  await statusWith(cluster, 'b', {
    currentHealthy: 1,
    disruptionsAllowed: 0,
    expectedPods: 1,
    disruptedPods: undefined,
  })
})

test('PodDisruptionBudget: Status updates: percentages use the scale of pod owners, also custom kinds', async (t) => {
  const cluster = await start(t)
  const names = { kind: 'Fleet', plural: 'fleets' }
  const version = {
    name: 'v1',
    served: true,
    storage: true,
    schema: { openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } },
    subresources: { status: {}, scale: { specReplicasPath: '.spec.size', statusReplicasPath: '.status.size' } },
  }
  const spec = { group: 'example.com', scope: 'Namespaced', names, versions: [version] }
  await cluster.call('POST', '/apis/apiextensions.k8s.io/v1/customresourcedefinitions', {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: 'fleets.example.com' },
    spec,
  })
  const fleets = '/apis/example.com/v1/namespaces/default/fleets'
  await waitFor('fleets to be served', () => cluster.call('GET', fleets).then(() => true))
  const fleet = await cluster.call('POST', fleets, {
    apiVersion: 'example.com/v1',
    kind: 'Fleet',
    metadata: { name: 'f' },
    spec: { size: 4 },
  })
  const owned = (apiVersion: string, kind: string, name: string, uid: string) => ({
    ownerReferences: [{ apiVersion, kind, name, uid, controller: true }],
  })
  await readyPod(cluster, 'p0', owned('example.com/v1', 'Fleet', 'f', fleet.metadata.uid))
  const template = { metadata: { labels: { app: 'web' } }, spec: { containers } }
  const set = {
    apiVersion: 'apps/v1',
    kind: 'ReplicaSet',
    metadata: { name: 'r' },
    spec: { replicas: 6, selector, template },
  }
  const { metadata } = await cluster.call('POST', '/apis/apps/v1/namespaces/default/replicasets', set)
  await readyPod(cluster, 'p1', owned('apps/v1', 'ReplicaSet', 'r', metadata.uid))
  await create(cluster, 'share', { minAvailable: '15%' })
  await statusWith(cluster, 'share', { expectedPods: 10, desiredHealthy: 2, currentHealthy: 2, disruptionsAllowed: 0 })
  await create(cluster, 'missing', { maxUnavailable: 9 })
  const allowed = await statusWith(cluster, 'missing', { expectedPods: 10, desiredHealthy: 1, disruptionsAllowed: 1 })
  assert.equal(allowed.conditions?.[0]?.reason, 'SufficientPods')
})

test('a percentage of pods whose owner has no scale is unknown and allows no disruption', async (t) => {
  const cluster = await start(t)
  await readyPod(cluster, 'p', {
    ownerReferences: [{ apiVersion: 'batch/v1', kind: 'Job', name: 'j', uid: 'u', controller: true }],
  })
  await create(cluster, 'b', { maxUnavailable: 1 })
  const { conditions } = await waitFor('the failure', async () => {
    const status = await statusWith(cluster, 'b', {})
    return status.conditions?.[0]?.reason === 'SyncFailed' && status
  })
  assert.equal(conditions?.[0]?.message, 'jobs.batch does not implement the scale subresource')
})

test('PodDisruptionBudget: update and patch status: a wrong status is corrected', async (t) => {
  const cluster = await start(t)
  await readyPod(cluster, 'p0')
  await create(cluster, 'b', { minAvailable: 0 })
  await statusWith(cluster, 'b', { disruptionsAllowed: 1 })
  const patched = await cluster.call('PATCH', `${budgets}/b/status`, { status: { disruptionsAllowed: 5 } }, merge)
  assert.equal((patched as unknown as PodDisruptionBudget).status?.disruptionsAllowed, 5)
  await statusWith(cluster, 'b', { disruptionsAllowed: 1, currentHealthy: 1 })
})

for (const program of installedKubectls())
  test(`kubectl drain waits for budgets (${program.version})`, { timeout: 60_000 }, async (t) => {
    const cluster = await start(t)
    await cluster.call('POST', '/api/v1/nodes', { apiVersion: 'v1', kind: 'Node', metadata: { name: 'n' } })
    await create(cluster, 'b', { minAvailable: 1 })
    for (const name of ['p0', 'p1']) await readyPod(cluster, name)
    await statusWith(cluster, 'b', { disruptionsAllowed: 1 })
    const kubectl = new Kubectl(program, cluster.kubeconfigFile, cluster.folder)
    await kubectl.fails(
      'drain n --force --grace-period=0 --timeout=3s',
      /Cannot evict pod as it would violate the pod's disruption budget|global timeout reached/,
    )
    await statusWith(cluster, 'b', { currentHealthy: 1, disruptionsAllowed: 0 })
    await cluster.call('PATCH', `${budgets}/b`, { spec: { minAvailable: 0 } }, merge)
    await statusWith(cluster, 'b', { disruptionsAllowed: 1 })
    await kubectl.ok('drain n --force --grace-period=0 --timeout=20s', /node\/n drained/)
  })
