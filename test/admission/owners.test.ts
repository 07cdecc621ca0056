/** OwnerReferencesPermissionEnforcement and DenyServiceExternalIPs, which are off by default. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { as, mergePatch } from '../authorization/as-user.ts'
import { apiControllers, testCluster } from '../support/test-cluster.ts'
import { waitFor } from '../support/wait-for.ts'

const configMaps = '/api/v1/namespaces/default/configmaps'
const jane = { name: 'jane' }

test('changing owners needs delete permission, and blockOwnerDeletion the owner’s finalizers', async (t) => {
  const cluster = await testCluster(t, {
    controllers: apiControllers,
    apiServerFlags: ['--enable-admission-plugins=OwnerReferencesPermissionEnforcement'],
  })
  const rules = async (name: string, more: readonly object[]): Promise<void> => {
    await cluster.call('POST', '/apis/rbac.authorization.k8s.io/v1/clusterroles', { metadata: { name }, rules: more })
    await cluster.call('POST', '/apis/rbac.authorization.k8s.io/v1/clusterrolebindings', {
      metadata: { name },
      roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name },
      subjects: [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'User', name: 'jane' }],
    })
  }
  await cluster.call('POST', '/apis/apiextensions.k8s.io/v1/customresourcedefinitions', {
    metadata: { name: 'boats.example.com' },
    spec: {
      group: 'example.com',
      scope: 'Cluster',
      names: { plural: 'boats', singular: 'boat', kind: 'Boat', listKind: 'BoatList' },
      versions: [{ name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: { type: 'object' } } }],
    },
  })
  await waitFor(
    'boats are served',
    async () => (await cluster.call('GET', '/apis/example.com/v1/boats')).kind === 'BoatList',
  )
  await rules('write', [{ apiGroups: [''], resources: ['configmaps'], verbs: ['get', 'create', 'update', 'patch'] }])

  const owner = (kind: string, more: object = {}, apiVersion = 'v1') => ({
    apiVersion,
    kind,
    name: 'o',
    uid: `uid-${kind}`,
    ...more,
  })
  const boat = owner('Boat', { blockOwnerDeletion: true }, 'example.com/v1')
  const yacht = owner('Yacht', { blockOwnerDeletion: true }, 'example.com/v1')
  const post = (name: string, owners: readonly object[]) =>
    as(cluster, jane, 'POST', configMaps, { metadata: { name, ownerReferences: owners } })
  const patch = (owners: readonly object[] | null) =>
    as(cluster, jane, 'PATCH', `${configMaps}/a`, { metadata: { ownerReferences: owners } }, mergePatch)

  assert.equal((await post('a', [owner('Secret')])).status, 201, 'who creates it says whose it is')
  assert.match(
    (await post('b', [boat])).message,
    /cannot set blockOwnerDeletion if an ownerReference refers to a resource you can't set finalizers on: .*, <nil>$/,
  )
  assert.match(
    (await post('b', [yacht])).message,
    new RegExp(
      'cannot set blockOwnerDeletion in this case because cannot find RESTMap' +
        String.raw`ping for APIVersion example\.com/v1 ` +
        String.raw`Kind Yacht: no matches for kind "Yacht" in version "example\.com/v1"$`,
    ),
  )
  await cluster.call('POST', configMaps, { metadata: { name: 'c', ownerReferences: [yacht] } })
  assert.match(
    (await patch(null)).message,
    /^configmaps "a" is forbidden: cannot set an ownerRef on a resource you can't delete: .*, <nil>$/,
  )
  assert.equal(
    (await as(cluster, jane, 'PATCH', `${configMaps}/a`, { data: { a: 'b' } }, mergePatch)).status,
    200,
    'other changes are free',
  )

  await rules('delete', [{ apiGroups: [''], resources: ['configmaps'], verbs: ['delete'] }])
  assert.equal((await patch([owner('Secret'), owner('ConfigMap')])).status, 200)
  assert.equal((await patch([boat])).status, 403)
  await rules('finalizers', [{ apiGroups: ['example.com'], resources: ['boats/finalizers'], verbs: ['update'] }])
  assert.equal((await patch([boat])).status, 200)
})

test('new external addresses of Services are rejected', async (t) => {
  const cluster = await testCluster(t, {
    controllers: apiControllers,
    apiServerFlags: ['--enable-admission-plugins=DenyServiceExternalIPs'],
  })
  const services = '/api/v1/namespaces/default/services'
  const service = (name: string, externalIPs?: readonly string[]) => ({
    metadata: { name },
    spec: { ports: [{ port: 80 }], ...(externalIPs && { externalIPs }) },
  })
  await assert.rejects(
    cluster.call('POST', services, service('a', ['192.0.2.1'])),
    /: 403 .*services \\"a\\" is forbidden: Use of external IPs is denied by admission control/,
  )
  await cluster.call('POST', services, service('a'))
  await assert.rejects(
    cluster.call('PATCH', `${services}/a`, { spec: { externalIPs: ['192.0.2.1'] } }, mergePatch),
    /: 403 /,
  )
  await cluster.call('PATCH', `${services}/a`, { metadata: { labels: { a: 'b' } } }, mergePatch)
})
