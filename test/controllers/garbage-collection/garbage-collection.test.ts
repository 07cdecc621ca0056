/** Dependents are deleted before or after their owner or orphaned, by the propagation policy. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { installedKubectls, Kubectl } from '../../support/kubectl.ts'
import { waitFor } from '../../support/wait-for.ts'
import { sharedCluster } from '../shared-cluster.ts'
import { ownedObjects, referenceTo } from './owned-objects.ts'

const controllers = ['garbage-collector-controller']
const options = { controllers, apiServerFlags: ['--disable-admission-plugins=ServiceAccount'] }
const hold = ['example.com/hold']

const cluster = sharedCluster(options)

let namespaces = 0

/** Objects in a new namespace. */
async function objects() {
  const name = `test-${namespaces++}`
  await cluster().call('POST', '/api/v1/namespaces', { apiVersion: 'v1', kind: 'Namespace', metadata: { name } })
  return { namespace: name, ...ownedObjects(cluster(), name) }
}

test('a cycle of owners in foreground deletion is deleted', async () => {
  const { create, delete: remove, deletionOf, patch } = await objects()
  const a = await create('configmaps', 'ConfigMap', 'a')
  const b = await create('configmaps', 'ConfigMap', 'b', { owners: [referenceTo(a)] })
  await patch('configmaps', 'a', { ownerReferences: [referenceTo(b)] })
  await Promise.all(['a', 'b'].map((name) => remove('configmaps', name, 'Foreground')))
  for (const name of ['a', 'b']) await deletionOf('configmaps', name)
})

test('an owner in another namespace does not count: its dependent is deleted with an event', async () => {
  const owner = await (await objects()).create('configmaps', 'ConfigMap', 'owner')
  const { namespace, create, deletionOf } = await objects()
  await create('configmaps', 'ConfigMap', 'd', { owners: [referenceTo(owner)] })
  await deletionOf('configmaps', 'd')
  const event = await waitFor('the event', async () => {
    const { items } = (await cluster().call('GET', `/api/v1/namespaces/${namespace}/events`)) as unknown as {
      items: { reason: string; type: string; message: string }[]
    }
    return items.find(({ reason }) => reason === 'OwnerRefInvalidNamespace')
  })
  assert.equal(event.type, 'Warning')
  assert.equal(
    event.message,
    `ownerRef [v1/ConfigMap, namespace: ${namespace}, name: owner, uid: ${owner.metadata.uid}] does not exist in ` +
      `namespace "${namespace}"`,
  )
})

test('objects of custom kinds are collected as soon as their kind is served', async () => {
  const { create, delete: remove, deletionOf } = await objects()
  const parked = await create('configmaps', 'ConfigMap', 'parked', {
    owners: [{ apiVersion: 'example.com/v1', kind: 'Crew', name: 'none', uid: '1' }],
  })
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
  // The kind of its owner was unknown, so it was deferred.
  await deletionOf('configmaps', parked.metadata.name)
  await remove('example.com/v1/crews', 'crew', 'Foreground')
  await deletionOf('example.com/v1/crews', 'crew')
  await deletionOf('example.com/v1/crews', 'mate')
  await deletionOf('configmaps', 'log')
  // Deleting the definition deletes its objects and their dependents.
  const last = await create('example.com/v1/crews', 'Crew', 'last')
  await create('configmaps', 'ConfigMap', 'last-log', { owners: [referenceTo(last)] })
  await cluster().call('DELETE', '/apis/apiextensions.k8s.io/v1/customresourcedefinitions/crews.example.com')
  await deletionOf('configmaps', 'last-log')
})

describe('kubectl delete --cascade', { concurrency: 3 }, () => {
  for (const program of installedKubectls()) {
    test(program.version, async () => {
      const { namespace, create, deletionOf, get, when, patch } = await objects()
      const kubectl = new Kubectl(program, cluster().kubeconfigFile, cluster().folder, namespace)
      for (const cascade of ['background', 'foreground', 'orphan']) {
        const owner = await create('configmaps', 'ConfigMap', cascade)
        await create('configmaps', 'ConfigMap', `${cascade}-d`, {
          owners: [referenceTo(owner)],
          finalizers: cascade === 'foreground' ? hold : [],
        })
      }
      await kubectl.ok('delete configmap background --cascade=background')
      await deletionOf('configmaps', 'background-d')

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
