/** Informers against a server that restarts and compacts its history. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Connection } from '../../src/client/connection/connection.ts'
import { Informer } from '../../src/client/informers/informer.ts'
import { resource } from '../../src/client/resource.ts'
import { RestClient } from '../../src/client/rest/rest-client.ts'
import { startCluster } from '../../src/cluster/start-cluster.ts'
import type { KubeObject } from '../../src/machinery/object.ts'
import { waitFor } from '../support/wait-for.ts'
import { temporaryFolder } from '../up/t8s-process.ts'

const configMaps = resource<KubeObject & { data?: Record<string, string> }>('v1', 'ConfigMap', 'configmaps')
const configMap = (name: string) => ({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name, namespace: 'default' } })

test('an informer reports existing objects, changes, and changes made while it was disconnected', async (t) => {
  const directory = temporaryFolder(t)
  const start = (port = 0) =>
    startCluster({ storage: { directory }, port, compaction: { intervalMs: 50, retainMs: 0 } })
  let cluster = await start()
  t.after(() => cluster.stop())
  const { port } = cluster
  const { url, ca, cert, key } = cluster.client
  const connection = new Connection({ url, ca, cert, key })
  t.after(() => connection.close())
  const client = new RestClient(connection)
  await client.create(configMaps, configMap('first'))

  const informer = new Informer({ client, resource: configMaps, namespace: 'default', log: () => {} })
  const changes: string[] = []
  informer.onChange((object, old) =>
    changes.push(`${old ? (object ? 'changed' : 'deleted') : 'new'} ${(object ?? old)?.metadata.name}`),
  )
  const stopping = new AbortController()
  const { promise: synced, resolve } = Promise.withResolvers<void>()
  const running = informer.run(stopping.signal, resolve)
  await synced
  assert.ok(informer.get('default', 'first'))

  await client.create(configMaps, configMap('second'))
  await waitFor('the second', () => informer.get('default', 'second'))
  await client.delete(configMaps, 'default', 'first')
  await waitFor('the first to be deleted', () => !informer.get('default', 'first'))

  await cluster.stop()
  cluster = await start(port)
  await client.create(configMaps, configMap('third'))
  await client.delete(configMaps, 'default', 'second')
  await waitFor('the third', () => informer.get('default', 'third'))
  await waitFor('the second to be deleted', () => !informer.get('default', 'second'))
  assert.ok(
    changes.includes('new first') &&
      changes.includes('deleted first') &&
      changes.includes('new third') &&
      changes.includes('deleted second'),
  )
  assert.equal(changes.filter((line) => line === 'new third').length, 1)
  stopping.abort()
  await running
})
