/** Conversion strategy None: the versions differ only in their names. */
import assert from 'node:assert/strict'
import test from 'node:test'
import { testCluster } from '../support/test-cluster.ts'
import { waitFor } from '../support/wait-for.ts'
import { define, redefine, widgetsPath } from './webhook.ts'
import { group } from './widgets.ts'

const widget = (version: string, spec: object): object => ({
  apiVersion: `${group}/${version}`,
  kind: 'Widget',
  metadata: { name: 'a' },
  spec,
})

test('an unchanged write moves an object to the storage version; the next one does nothing', async (t) => {
  const cluster = await testCluster(t)
  await define(cluster, { storage: 'v1' })
  const created = await cluster.call('POST', widgetsPath('v1'), widget('v1', { size: 1 }))
  await redefine(cluster, { storage: 'v2' })
  const moved = await waitFor('a write stores the object as v2', async () => {
    const put = await cluster.call('PUT', `${widgetsPath('v3')}/a`, await cluster.call('GET', `${widgetsPath('v3')}/a`))
    return put.metadata.resourceVersion !== created.metadata.resourceVersion && put
  })
  assert.equal(moved.metadata.generation, 1)
  for (const version of ['v1', 'v2', 'v3']) {
    const again = await cluster.call(
      'PUT',
      `${widgetsPath(version)}/a`,
      await cluster.call('GET', `${widgetsPath(version)}/a`),
    )
    assert.equal(again.metadata.resourceVersion, moved.metadata.resourceVersion)
  }
  await redefine(cluster, { storage: 'v1' })
  await waitFor('an empty patch stores the object as v1', async () => {
    const patched = await cluster.call('PATCH', `${widgetsPath('v2')}/a`, {}, 'application/merge-patch+json')
    return patched.metadata.resourceVersion !== moved.metadata.resourceVersion
  })
})

test('field managers of removed versions are dropped; others conflict across versions', async (t) => {
  const cluster = await testCluster(t)
  await define(cluster, {})
  const apply = (version: string, manager: string, spec: object) =>
    cluster.call(
      'PATCH',
      `${widgetsPath(version)}/a?fieldManager=${manager}`,
      JSON.stringify(widget(version, spec)),
      'application/apply-patch+yaml',
    )
  const managers = ({ metadata }: { readonly metadata: object }): string[] =>
    (metadata as { managedFields: { manager: string }[] }).managedFields.map(({ manager }) => manager)
  await apply('v1', 'one', { size: 1 })
  assert.deepEqual(managers(await apply('v2', 'two', { notes: { a: 'b' } })), ['one', 'two'])
  await assert.rejects(apply('v3', 'three', { size: 2 }), /409.*conflict with \\"one\\": \.spec\.size/)
  await redefine(cluster, { storage: 'v2', versions: ['v2', 'v3'] }).catch(() => {})
  await redefine(cluster, { storage: 'v2' })
  await waitFor(
    'the object is stored as v2',
    async () => (await apply('v2', 'two', { notes: { a: 'c' } })).metadata.resourceVersion !== '',
  )
  const { status } = await cluster.call(
    'GET',
    '/apis/apiextensions.k8s.io/v1/customresourcedefinitions/widgets.shop.example.com',
  )
  await cluster.call(
    'PATCH',
    '/apis/apiextensions.k8s.io/v1/customresourcedefinitions/widgets.shop.example.com/status',
    { status: { ...(status as object), storedVersions: ['v2'] } },
    'application/merge-patch+json',
  )
  await redefine(cluster, { storage: 'v2', versions: ['v2', 'v3'] })
  // Managers are ordered by time, in seconds: sorted by name, as the test may cross a second.
  await waitFor(
    'the manager of v1 is dropped',
    async () =>
      managers(await apply('v3', 'three', { tags: ['x'] }))
        .sort()
        .join() === 'three,two',
  )
})
