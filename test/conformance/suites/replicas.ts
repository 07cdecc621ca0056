/**
 * Tests of the conformance suite for ReplicaSets and ReplicationControllers (`test/e2e/apps/{replica_set,rc}.go`), in
 * its steps, on nodes of both types.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Pod, ReplicaSet, ReplicationController } from '../../../src/client/kinds.ts'
import { inNamespace, type PodNodes } from '../support/pod-nodes.ts'
import { names, type Requests } from '../support/requests.ts'
import { type Act, eventually, images, objectWhen, readyPods, stays, template } from '../support/workloads.ts'

const labels = { name: 'sample' }
const condition = (type: string) => ({ type, status: 'True', reason: 'E2E', message: 'Set by a test' })

/** A kind of objects that have replicas of a pod. */
interface Kind {
  readonly kind: 'ReplicaSet' | 'ReplicationController'
  readonly at: (api: Requests) => string
  readonly object: (name: string, replicas: number, act?: Act) => object
}

const replicaSets: Kind = {
  kind: 'ReplicaSet',
  at: (api) => `${api.group('apps/v1')}/replicasets`,
  object: (name, replicas, act = stays) => ({
    apiVersion: 'apps/v1',
    kind: 'ReplicaSet',
    metadata: { name, labels },
    spec: { replicas, selector: { matchLabels: labels }, template: template(labels, { act }) },
  }),
}

const replicationControllers: Kind = {
  kind: 'ReplicationController',
  at: (api) => `${api.core}/replicationcontrollers`,
  object: (name, replicas, act = stays) => ({
    apiVersion: 'v1',
    kind: 'ReplicationController',
    metadata: { name, labels },
    spec: { replicas, selector: labels, template: template(labels, { act }) },
  }),
}

/** Answers HTTP requests with the name of its pod. */
const hostnames: Act = {
  ...stays,
  script: 'mkdir /www; hostname > /www/index.html; httpd -p 9376 -h /www; ' + stays.script,
}

export function replicaSuite(nodes: Promise<PodNodes>): void {
  test('ReplicaSet should serve a basic image on each replica with a public image', () =>
    servesImage(nodes, replicaSets))
  test('ReplicationController should serve a basic image on each replica with a public image', () =>
    servesImage(nodes, replicationControllers))
  defineAdoptions(nodes)
  defineReplicaSets(nodes)
  defineReplicaSetRequests(nodes)
  defineReplicationControllers(nodes)
  defineControllerLifecycle(nodes)
}

async function servesImage(nodes: Promise<PodNodes>, { kind, at, object }: Kind): Promise<void> {
  const api = await inNamespace(nodes, `basic-${kind.toLowerCase()}`)
  await api.post(at(api), object('my-hostname-basic', 2, hostnames))
  const pods = await readyPods(api, labels, 2)
  assert.equal(new Set(pods.map(({ status }) => status?.podIP)).size, 2)
  await objectWhen<ReplicaSet>(
    api,
    `${at(api)}/my-hostname-basic`,
    'has available replicas',
    ({ status }) => status?.availableReplicas === 2,
  )
  if (!api.nodes.areReal) return
  for (const { metadata } of pods)
    await eventually(api, `an answer of ${metadata.name}`, async () => {
      const answer = await api.nodes.cluster.text(`${api.core}/pods/${metadata.name}:9376/proxy/`)
      return answer === `${metadata.name}\n`
    })
}

const ownerOf = async (api: Requests, pod: string) =>
  (await api.get<Pod>(`${api.core}/pods/${pod}`)).metadata.ownerReferences?.find(({ controller }) => controller)

async function adopts(api: Requests, { at, object }: Kind): Promise<void> {
  const pod = template(labels)
  const metadata = { ...pod.metadata, name: 'pod-adoption' }
  await api.post(`${api.core}/pods`, { apiVersion: 'v1', kind: 'Pod', ...pod, metadata })
  const made = await api.post(at(api), object('adopter', 1))
  const owner = await eventually(api, 'the adoption', () => ownerOf(api, 'pod-adoption'))
  assert.equal(owner.uid, made.metadata.uid)
  const [only, ...more] = await readyPods(api, labels, 1)
  assert.deepEqual([only?.metadata.name, more], ['pod-adoption', []])
}

async function releases(api: Requests, pod: string): Promise<void> {
  const path = `${api.core}/pods/${pod}`
  await api.update(path, (it) => ({
    ...it,
    metadata: { ...it.metadata, labels: { ...it.metadata.labels, name: 'not-matching-name' } },
  }))
  await eventually(api, 'the release', async () => (await ownerOf(api, pod)) === undefined)
  // A new pod takes its place.
  await readyPods(api, labels, 1)
}

function defineAdoptions(nodes: Promise<PodNodes>): void {
  test('ReplicaSet should adopt matching pods on creation and release no longer matching pods', async () => {
    const api = await inNamespace(nodes, 'rs-adopts')
    await adopts(api, replicaSets)
    await releases(api, 'pod-adoption')
  })

  test('ReplicationController should adopt matching pods on creation', async () => {
    await adopts(await inNamespace(nodes, 'rc-adopts'), replicationControllers)
  })

  test('ReplicationController should release no longer matching pods', async () => {
    const api = await inNamespace(nodes, 'rc-releases')
    await api.post(replicationControllers.at(api), replicationControllers.object('pod-release', 1))
    const [pod] = await readyPods(api, labels, 1)
    await releases(api, pod?.metadata.name ?? '')
  })
}

/** Creates an object with one replica, and resolves with its path when that runs. */
async function running(api: Requests, { at, object }: Kind, name: string): Promise<string> {
  await api.post(at(api), object(name, 1))
  await readyPods(api, labels, 1)
  return `${at(api)}/${name}`
}

function defineReplicaSets(nodes: Promise<PodNodes>): void {
  test('ReplicaSet Replace and Patch tests', async () => {
    const api = await inNamespace(nodes, 'rs-replaced')
    const path = await running(api, replicaSets, 'test-rs')
    const scale = await api.get<{ metadata: object }>(`${path}/scale`)
    await api.put(`${path}/scale`, { ...scale, spec: { replicas: 2 } })
    await readyPods(api, labels, 2)
    const containers = [{ name: 'c', image: images.newBusybox }]
    const patch = {
      metadata: { labels: { 'test-rs': 'patched' } },
      spec: { replicas: 3, template: { spec: { terminationGracePeriodSeconds: 0, containers } } },
    }
    await api.patch(path, patch, 'strategic')
    const { spec } = await objectWhen<ReplicaSet>(api, path, 'is patched', ({ metadata, status }) => {
      return metadata.labels?.['test-rs'] === 'patched' && status?.readyReplicas === 3
    })
    assert.deepEqual(
      [spec?.replicas, spec?.template?.spec?.terminationGracePeriodSeconds, spec?.template?.spec?.containers[0]?.image],
      [3, 0, images.newBusybox],
    )
  })

  test('ReplicaSet Replicaset should have a working scale subresource', async () => {
    const api = await inNamespace(nodes, 'rs-scale')
    const path = await running(api, replicaSets, 'test-rs')
    const scale = await api.get<{ metadata: object; spec: { replicas: number } }>(`${path}/scale`)
    assert.equal(scale.spec.replicas, 1)
    const unconditional = { ...scale, metadata: { ...scale.metadata, resourceVersion: '' } }
    await api.put(`${path}/scale`, { ...unconditional, spec: { replicas: 2 } })
    assert.equal((await api.get<ReplicaSet>(path)).spec?.replicas, 2)
    await api.patch(`${path}/scale`, { spec: { replicas: 4 } })
    assert.equal((await api.get<ReplicaSet>(path)).spec?.replicas, 4)
    await readyPods(api, labels, 4)
  })
}

function defineReplicaSetRequests(nodes: Promise<PodNodes>): void {
  test('ReplicaSet should list and delete a collection of ReplicaSets', async () => {
    const api = await inNamespace(nodes, 'rs-list')
    await api.post(replicaSets.at(api), replicaSets.object('test-rs', 3))
    await readyPods(api, labels, 3)
    const all = await api.list<ReplicaSet>('/apis/apps/v1/replicasets?labelSelector=name%3Dsample')
    assert.deepEqual(names(all.filter(({ metadata }) => metadata.namespace === api.namespace)), ['test-rs'])
    await api.delete(`${replicaSets.at(api)}?labelSelector=name%3Dsample`)
    assert.deepEqual(await api.list(`${replicaSets.at(api)}?labelSelector=name%3Dsample`), [])
  })

  test('ReplicaSet should validate Replicaset Status endpoints', async () => {
    const api = await inNamespace(nodes, 'rs-status')
    const path = await running(api, replicaSets, 'test-rs')
    const types = ({ status }: ReplicaSet) => (status?.conditions ?? []).map(({ type }) => type)
    const updated = await api.update<ReplicaSet>(`${path}/status`, (it) => ({
      ...it,
      status: { ...it.status, conditions: [condition('StatusUpdate')] },
    }))
    assert.equal(updated.kind, 'ReplicaSet')
    await objectWhen<ReplicaSet>(api, path, 'has the update', (set) => types(set).includes('StatusUpdate'))
    await api.patch(`${path}/status`, { status: { conditions: [condition('StatusPatched')] } })
    await objectWhen<ReplicaSet>(api, path, 'has the patch', (set) => types(set).includes('StatusPatched'))
  })
}

function defineReplicationControllers(nodes: Promise<PodNodes>): void {
  test('ReplicationController should get and update a ReplicationController scale', async () => {
    const api = await inNamespace(nodes, 'rc-scale')
    const path = await running(api, replicationControllers, 'e2e-rc')
    const scale = await api.get<{ metadata: object; status: { replicas: number } }>(`${path}/scale`)
    assert.equal(scale.status.replicas, 1)
    const unconditional = { ...scale.metadata, resourceVersion: '' }
    await api.put(`${path}/scale`, { ...scale, metadata: unconditional, spec: { replicas: 2 } })
    await objectWhen<ReplicationController>(api, path, 'has two pods', ({ status }) => status?.replicas === 2)
  })

  test(
    'ReplicationController should surface a failure condition on a common issue like ' + 'exceeded quota',
    async () => {
      const api = await inNamespace(nodes, 'rc-quota')
      await api.post(`${api.core}/resourcequotas`, {
        apiVersion: 'v1',
        kind: 'ResourceQuota',
        metadata: { name: 'condition-test' },
        spec: { hard: { pods: '2' } },
      })
      const path = `${replicationControllers.at(api)}/condition-test`
      await api.post(replicationControllers.at(api), replicationControllers.object('condition-test', 3))
      const failure = ({ status }: ReplicationController) =>
        status?.conditions?.find(({ type }) => type === 'ReplicaFailure')
      const failed = await objectWhen<ReplicationController>(
        api,
        path,
        'has the condition',
        (one) => failure(one) !== undefined,
      )
      assert.equal(failure(failed)?.reason, 'FailedCreate')
      await readyPods(api, labels, 2)
      await api.patch(`${path}/scale`, { spec: { replicas: 2 } })
      await objectWhen<ReplicationController>(
        api,
        path,
        'has no condition',
        (one) => one.status?.observedGeneration === one.metadata.generation && failure(one) === undefined,
      )
    },
  )
}

function defineControllerLifecycle(nodes: Promise<PodNodes>): void {
  test('ReplicationController should test the lifecycle of a ReplicationController', async () => {
    const api = await inNamespace(nodes, 'rc-life')
    const controllers = replicationControllers.at(api)
    const path = `${controllers}/rc-test`
    const watched = await api.watch<ReplicationController>(controllers, { labelSelector: 'name=sample' })
    const is = (replicas: number) => (one: { object: ReplicationController }) =>
      one.object.status?.replicas === replicas && one.object.status.readyReplicas === replicas
    const modified = ({ type }: { type: string }) => type === 'MODIFIED'
    try {
      await api.post(controllers, replicationControllers.object('rc-test', 1))
      await watched.next('the addition', ({ type }) => type === 'ADDED')
      await watched.next('a ready pod', is(1))
      const patched = await api.patch(path, { metadata: { labels: { 'test-rc': 'patched' } } }, 'strategic')
      assert.equal(patched.metadata.labels?.['test-rc'], 'patched')
      await watched.next('the patch', modified)
      const status = { readyReplicas: 0, availableReplicas: 0 }
      const written = await api.patch<ReplicationController>(`${path}/status`, { status }, 'strategic')
      assert.equal(written.status?.readyReplicas ?? 0, 0)
      await watched.next('the status', modified)
      await watched.next('the corrected status', is(1))
      assert.equal((await api.get<ReplicationController>(`${path}/status`)).status?.replicas, 1)
      await api.patch(`${path}/scale`, { spec: { replicas: 2 } }, 'strategic')
      await watched.next('the scale', modified)
      await watched.next('two ready pods', is(2))
      assert.equal((await api.get(path)).metadata.labels?.['test-rc'], 'patched')
      await api.update<ReplicationController>(
        path,
        (it) => ({ ...it, status: { ...it.status, availableReplicas: 1, readyReplicas: 1 } }),
        `${path}/status`,
      )
      await watched.next('the second status', modified)
      const [found] = await api.list('/api/v1/replicationcontrollers?labelSelector=test-rc%3Dpatched')
      assert.deepEqual(found?.metadata.labels, { ...labels, 'test-rc': 'patched' })
      await api.delete(`${controllers}?labelSelector=test-rc%3Dpatched`)
      await watched.next('the deletion', ({ type }) => type === 'DELETED')
    } finally {
      watched.stop()
    }
  })
}
