/**
 * Tests of the conformance suite for aggregated APIs (`test/e2e/apimachinery/aggregator.go`), with the extension server
 * of `test/aggregator`.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ApiregistrationV1Api, type V1APIServiceCondition } from '@kubernetes/client-node'
import { apiServiceName as name, registered } from '../../aggregator/orchard.ts'
import { waitFor } from '../../support/wait-for.ts'
import { conformanceClients, merging } from '../support/clients.ts'

const clients = conformanceClients({ controllers: [] })
const group = 'orchard.example.com'
const apples = `/apis/${group}/v1/namespaces/default/apples`

test('Aggregator Should be able to support the 1.17 Sample API Server using the current Aggregator', async (t) => {
  const { cluster, config } = clients()
  await registered(t, cluster)
  const api = config.makeApiClient(ApiregistrationV1Api)
  const make = (apple: string) =>
    cluster.call('POST', apples, {
      apiVersion: `${group}/v1`,
      kind: 'Apple',
      metadata: { name: apple, labels: { sample: 'true' } },
    })
  const count = async () => ((await cluster.call('GET', apples)).items as unknown[]).length

  const made = await make('rest-apple')
  assert.deepEqual([made.apiVersion, made.kind, made.metadata.name], [`${group}/v1`, 'Apple', 'rest-apple'])
  assert.equal(await count(), 1)
  await cluster.call('DELETE', `${apples}/rest-apple`)
  assert.equal(await count(), 0)

  // Dynamic clients find it by discovery.
  const { groups } = (await cluster.call('GET', '/apis')) as unknown as {
    groups: { name: string; preferredVersion: { groupVersion: string } }[]
  }
  assert.equal(groups.find((one) => one.name === group)?.preferredVersion.groupVersion, `${group}/v1`)
  const { resources } = (await cluster.call('GET', `/apis/${group}/v1`)) as unknown as {
    resources: { name: string; namespaced: boolean }[]
  }
  assert.ok(resources.some(({ name, namespaced }) => name === 'apples' && namespaced))
  await make('dynamic-apple')
  assert.equal(await count(), 1)

  assert.equal((await api.readAPIServiceStatus({ name })).status?.conditions?.[0]?.message, 'all checks passed')
  assert.equal(
    (await api.patchAPIService({ name, body: { spec: { versionPriority: 400 } } }, merging)).spec?.versionPriority,
    400,
  )
  assert.ok((await api.listAPIService()).items.some(({ metadata }) => metadata?.name === name))
  await api.patchAPIService({ name, body: { metadata: { labels: { 'e2e-apiservice': 'patched' } } } }, merging)
  assert.equal((await api.readAPIService({ name })).metadata?.labels?.['e2e-apiservice'], 'patched')

  const condition = { status: 'True', reason: 'E2E', message: 'Set from an e2e test' }
  const has = (conditions: readonly V1APIServiceCondition[] | undefined, type: string) =>
    conditions?.some((one) => one.type === type && one.reason === 'E2E')
  await waitFor('no conflict', async () => {
    const read = await api.readAPIServiceStatus({ name })
    const conditions = [...(read.status?.conditions ?? []), { ...condition, type: 'StatusUpdated' }]
    return has(
      (await api.replaceAPIServiceStatus({ name, body: { ...read, status: { conditions } } })).status?.conditions,
      'StatusUpdated',
    )
  })
  assert.ok(has((await api.readAPIServiceStatus({ name })).status?.conditions, 'StatusUpdated'))
  await waitFor('no conflict', async () => {
    const read = await api.readAPIService({ name })
    const body = { ...read, metadata: { ...read.metadata, labels: { [name]: 'updated' } } }
    return (await api.replaceAPIService({ name, body })).metadata?.labels?.[name] === 'updated'
  })

  await cluster.call('DELETE', `${apples}/dynamic-apple`)
  assert.equal(await count(), 0)
  await make('dynamic-apple')
  assert.equal(await count(), 1)
  const { status } = await api.readAPIServiceStatus({ name })
  const conditions = [...(status?.conditions ?? []), { ...condition, type: 'StatusPatched' }]
  await api.patchAPIServiceStatus({ name, body: { status: { conditions } } }, merging)
  assert.ok(has((await api.readAPIServiceStatus({ name })).status?.conditions, 'StatusPatched'))

  await api.deleteCollectionAPIService({ labelSelector: `${name}=updated` })
  await waitFor(
    'it to go',
    async () => (await api.listAPIService({ labelSelector: `${name}=updated` })).items.length === 0,
  )
  await waitFor('the group to go', () =>
    cluster.call('GET', apples).then(
      () => false,
      (error: Error) => / 404 /.test(error.message),
    ),
  )
})
