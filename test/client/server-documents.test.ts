/** The server's version and OpenAPI documents; keys and resource version of informers. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { configMaps, Informer, openApiDocument, openApiIndex, openApiV2 } from '../../src/client/index.ts'
import { clientFor } from '../support/client-for.ts'
import { testCluster } from '../support/test-cluster.ts'
import { waitFor } from '../support/wait-for.ts'

test('serverVersion and the OpenAPI functions return the documents of the server', async (t) => {
  const client = clientFor(t, await testCluster(t, { controllers: false }))
  const { major, minor, gitVersion } = await client.serverVersion()
  assert.deepEqual([major, minor], ['1', '36'])
  assert.match(gitVersion, /^v1\.36\./)
  assert.match((await openApiIndex(client)).get('api/v1') ?? '', /^\/openapi\/v3\/api\/v1\?hash=/)
  assert.ok((await openApiDocument(client, 'apis/apps/v1')).components?.schemas?.['io.k8s.api.apps.v1.Deployment'])
  await assert.rejects(openApiDocument(client, 'apis/x/v1'), /no OpenAPI v3 document for apis\/x\/v1/)
  assert.ok((await openApiV2(client)).definitions?.['io.k8s.api.core.v1.Pod'])
})

test('an informer has keys and the last synced resource version', async (t) => {
  const client = clientFor(t, await testCluster(t, { controllers: false }))
  const informer = new Informer({ client, resource: configMaps, namespace: 'default', log: () => {} })
  assert.equal(informer.lastSyncResourceVersion, '')
  const ending = new AbortController()
  t.after(() => ending.abort())
  const synced = Promise.withResolvers<void>()
  void informer.run(ending.signal, synced.resolve)
  await synced.promise
  const { metadata } = await client.create(configMaps, {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { name: 'a', namespace: 'default' },
  })
  await waitFor('the version of the new object', () => informer.lastSyncResourceVersion === metadata.resourceVersion)
  assert.deepEqual([...informer.keys()], ['default/a'])
})
