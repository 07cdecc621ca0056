/** Owners take their dependents with them, before them or after, or leave them behind: as a deletion says. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { installedKubectls, Kubectl } from '../support/kubectl.ts'
import { waitFor } from '../support/wait-for.ts'
import { ownedObjects, referenceTo } from './owned-objects.ts'
import { sharedCluster } from './shared-cluster.ts'

const controllers = ['garbage-collector-controller']
const options = { controllers, apiServerFlags: ['--disable-admission-plugins=ServiceAccount'] }
const hold = ['example.com/hold']
const podSpec = { containers: [{ name: 'c', image: 'i' }] }
const template = { metadata: { labels: { app: 'a' } }, spec: podSpec }
const rcSpec = { replicas: 0, selector: { app: 'a' }, template }
const rcs = 'replicationcontrollers'

const cluster = sharedCluster(options)

let namespaces = 0

/** Objects in a namespace of their own. */
async function objects() {
  const name = `test-${namespaces++}`
  await cluster().call('POST', '/api/v1/namespaces', { apiVersion: 'v1', kind: 'Namespace', metadata: { name } })
  return { namespace: name, ...ownedObjects(cluster(), name) }
}

describe('as the conformance tests say', { concurrency: 4 }, () => {
  test('delete replication controller, propagation policy background: its pods are deleted', async () => {
    const { create, delete: remove, gone } = await objects()
    const rc = await create(rcs, 'ReplicationController', 'rc', { spec: rcSpec })
    for (const name of ['a', 'b']) await create('pods', 'Pod', name, { owners: [referenceTo(rc)], spec: podSpec })
    await remove(rcs, 'rc', 'Background')
    await gone(rcs, 'rc')
    for (const name of ['a', 'b']) await gone('pods', name)
  })

  test('delete replication controller, propagation policy orphan: its pods stay, without an owner', async () => {
    const { create, delete: remove, gone, when } = await objects()
    const rc = await create(rcs, 'ReplicationController', 'rc', { spec: rcSpec })
    for (const name of ['a', 'b']) await create('pods', 'Pod', name, { owners: [referenceTo(rc)], spec: podSpec })
    await remove(rcs, 'rc', 'Orphan')
    await gone(rcs, 'rc')
    for (const name of ['a', 'b'])
      assert.equal((await when('pods', name, 'be free', ({ metadata }) => !metadata.ownerReferences)).metadata.deletionTimestamp, undefined)
  })

  test('delete replication controller, after owned pods: it is there until the last of them is gone', async () => {
    const { create, delete: remove, gone, get, when, patch } = await objects()
    const rc = await create(rcs, 'ReplicationController', 'rc', { spec: rcSpec })
    for (const name of ['a', 'b']) await create('pods', 'Pod', name, { owners: [referenceTo(rc)], finalizers: hold, spec: podSpec })
    await remove(rcs, 'rc', 'Foreground')
    for (const name of ['a', 'b']) await when('pods', name, 'be deleted', ({ metadata }) => metadata.deletionTimestamp !== undefined)
    await patch('pods', 'a', { finalizers: null })
    await gone('pods', 'a')
    assert.deepEqual((await get(rcs, 'rc'))?.metadata.finalizers, ['foregroundDeletion'])
    await patch('pods', 'b', { finalizers: null })
    await gone(rcs, 'rc')
    assert.equal(await get('pods', 'b'), undefined)
  })

  test('multiple owners: what has a valid owner beside one that waits for its dependents stays', async () => {
    const { create, delete: remove, gone, when } = await objects()
    const first = await create(rcs, 'ReplicationController', 'first', { spec: rcSpec })
    const second = await create(rcs, 'ReplicationController', 'second', { spec: rcSpec })
    await create('pods', 'Pod', 'one', { owners: [referenceTo(first)], spec: podSpec })
    await create('pods', 'Pod', 'both', { owners: [referenceTo(first), referenceTo(second)], spec: podSpec })
    await remove(rcs, 'first', 'Foreground')
    await gone(rcs, 'first')
    await gone('pods', 'one')
    const left = await when('pods', 'both', 'have one owner', ({ metadata }) => metadata.ownerReferences?.length === 1)
    assert.deepEqual([left.metadata.ownerReferences?.[0]?.name, left.metadata.deletionTimestamp], ['second', undefined])
  })

  test('dependency cycle: three pods that own each other are not blocked by it', async () => {
    const { create, delete: remove, gone, patch } = await objects()
    const pods = [
      await create('pods', 'Pod', 'pod1', { spec: podSpec }),
      await create('pods', 'Pod', 'pod2', { spec: podSpec }),
      await create('pods', 'Pod', 'pod3', { spec: podSpec }),
    ]
    for (const [i, pod] of pods.entries()) await patch('pods', pod.metadata.name, { ownerReferences: [referenceTo(pods[(i + 2) % 3]!)] })
    await remove('pods', 'pod1', 'Foreground')
    for (const { metadata } of pods) await gone('pods', metadata.name)
  })

  test('delete deployment, propagation policy background: its replica sets and their pods are deleted', async () => {
    const { create, delete: remove, gone } = await objects()
    const spec = { replicas: 0, selector: { matchLabels: { app: 'a' } }, template }
    const deployment = await create('apps/v1/deployments', 'Deployment', 'd', { spec })
    const set = await create('apps/v1/replicasets', 'ReplicaSet', 'rs', { owners: [referenceTo(deployment)], spec })
    await create('pods', 'Pod', 'p', { owners: [referenceTo(set)], spec: podSpec })
    await remove('apps/v1/deployments', 'd', 'Background')
    await gone('apps/v1/replicasets', 'rs')
    await gone('pods', 'p')
  })

  test('delete deployment, propagation policy orphan: its replica set stays with its pods', async () => {
    const { create, delete: remove, when, get } = await objects()
    const spec = { replicas: 0, selector: { matchLabels: { app: 'a' } }, template }
    const deployment = await create('apps/v1/deployments', 'Deployment', 'd', { spec })
    const set = await create('apps/v1/replicasets', 'ReplicaSet', 'rs', { owners: [referenceTo(deployment)], spec })
    await create('pods', 'Pod', 'p', { owners: [referenceTo(set)], spec: podSpec })
    await remove('apps/v1/deployments', 'd', 'Orphan')
    await when('apps/v1/replicasets', 'rs', 'be free', ({ metadata }) => !metadata.ownerReferences)
    assert.equal((await get('pods', 'p'))?.metadata.ownerReferences?.[0]?.name, 'rs')
  })
})

test('two owners of each other that are both deleted after their dependents do not wait for ever', async () => {
  const { create, delete: remove, gone, patch } = await objects()
  const a = await create('configmaps', 'ConfigMap', 'a')
  const b = await create('configmaps', 'ConfigMap', 'b', { owners: [referenceTo(a)] })
  await patch('configmaps', 'a', { ownerReferences: [referenceTo(b)] })
  await Promise.all(['a', 'b'].map((name) => remove('configmaps', name, 'Foreground')))
  for (const name of ['a', 'b']) await gone('configmaps', name)
})

test('an owner in another namespace is none: its dependent goes, and an event says why', async () => {
  const owner = await (await objects()).create('configmaps', 'ConfigMap', 'owner')
  const { namespace, create, gone } = await objects()
  await create('configmaps', 'ConfigMap', 'd', { owners: [referenceTo(owner)] })
  await gone('configmaps', 'd')
  const event = await waitFor('the event', async () => {
    const { items } = (await cluster().call('GET', `/api/v1/namespaces/${namespace}/events`)) as unknown as {
      items: { reason: string; type: string; message: string }[]
    }
    return items.find(({ reason }) => reason === 'OwnerRefInvalidNamespace')
  })
  assert.equal(event.type, 'Warning')
  assert.equal(
    event.message,
    `ownerRef [v1/ConfigMap, namespace: ${namespace}, name: owner, uid: ${owner.metadata.uid}] does not exist in namespace "${namespace}"`,
  )
})

test('objects of custom kinds own and are owned as soon as their kind is there', async () => {
  const { create, delete: remove, gone } = await objects()
  const parked = await create('configmaps', 'ConfigMap', 'parked', { owners: [{ apiVersion: 'example.com/v1', kind: 'Crew', name: 'none', uid: '1' }] })
  const schema = { openAPIV3Schema: { type: 'object' } }
  await cluster().call('POST', '/apis/apiextensions.k8s.io/v1/customresourcedefinitions', {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: 'crews.example.com' },
    spec: {
      group: 'example.com',
      scope: 'Namespaced',
      names: { plural: 'crews', kind: 'Crew' },
      versions: [{ name: 'v1', served: true, storage: true, schema }],
    },
  })
  const crew = await waitFor('the kind', () => create('example.com/v1/crews', 'Crew', 'crew').catch(() => undefined))
  const crewOfIts = await create('example.com/v1/crews', 'Crew', 'mate', { owners: [referenceTo(crew)] })
  await create('configmaps', 'ConfigMap', 'log', { owners: [referenceTo(crewOfIts)] })
  // Its owner's kind was unknown: nobody could say whether it is there.
  await gone('configmaps', parked.metadata.name)
  await remove('example.com/v1/crews', 'crew', 'Foreground')
  await gone('example.com/v1/crews', 'crew')
  await gone('example.com/v1/crews', 'mate')
  await gone('configmaps', 'log')
})

describe('kubectl delete --cascade', { concurrency: 3 }, () => {
  for (const program of installedKubectls()) {
    test(program.version, async () => {
      const { namespace, create, gone, get, when, patch } = await objects()
      const kubectl = new Kubectl(program, cluster().kubeconfigFile, cluster().folder, namespace)
      for (const cascade of ['background', 'foreground', 'orphan']) {
        const owner = await create('configmaps', 'ConfigMap', cascade)
        await create('configmaps', 'ConfigMap', `${cascade}-d`, { owners: [referenceTo(owner)], finalizers: cascade === 'foreground' ? hold : [] })
      }
      await kubectl.ok('delete configmap background --cascade=background')
      await gone('configmaps', 'background-d')

      await kubectl.ok('delete configmap foreground --cascade=foreground --wait=false')
      await when('configmaps', 'foreground-d', 'be deleted', ({ metadata }) => metadata.deletionTimestamp !== undefined)
      assert.ok(await get('configmaps', 'foreground'))
      await patch('configmaps', 'foreground-d', { finalizers: null })
      await kubectl.ok('wait --for=delete configmap/foreground --timeout=20s')
      assert.equal(await get('configmaps', 'foreground-d'), undefined)

      await kubectl.ok('delete configmap orphan --cascade=orphan')
      await when('configmaps', 'orphan-d', 'be free', ({ metadata }) => !metadata.ownerReferences)
    })
  }
})
