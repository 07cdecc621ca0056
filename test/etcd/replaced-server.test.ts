/** A server that takes the place of another one at its address, on the same etcd, below running informers. */
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { KubeConfig, Watch } from '@kubernetes/client-node'
import type { StorageMediaType } from '../../src/apiserver/storage-format/index.ts'
import { Connection } from '../../src/client/connection/connection.ts'
import { bearerToken } from '../../src/client/connection/credentials/credentials.ts'
import { Informer } from '../../src/client/informers/informer.ts'
import { type ConfigMap, configMaps } from '../../src/client/kinds.ts'
import { RestClient } from '../../src/client/rest/rest-client.ts'
import { openEtcdStore } from '../../src/storage/etcd/index.ts'
import { http2Client } from '../support/api-client.ts'
import { authority, serve, type TestServer, token } from '../support/api-server.ts'
import { startEtcd, withoutEtcd } from '../support/etcd.ts'
import { waitFor } from '../support/wait-for.ts'

const namespace = 'default'

/** Starts a server on an etcd, at any port if there is none. */
async function start(t: TestContext, url: string, storageMediaType: StorageMediaType, port = 0): Promise<TestServer> {
  const store = await openEtcdStore({ servers: [url], compactionMs: 0 })
  const server = await serve(t, store, { storageMediaType, port })
  const stop = async (): Promise<void> => {
    await server.stop(0)
    await store.close()
  }
  t.after(stop)
  return { ...server, stop }
}

function clientAt(t: TestContext, { url }: TestServer): RestClient {
  const connection = new Connection({ url, ca: authority.cert, credentials: bearerToken(token) })
  t.after(() => connection.close())
  return new RestClient(connection)
}

/** Follows the ConfigMaps as client-node's users do: each watch begins where the one before has ended. */
async function follow({ url }: TestServer, from: string, seen: string[], signal: AbortSignal): Promise<void> {
  const config = new KubeConfig()
  config.loadFromClusterAndUser(
    { name: 'c', server: url, caData: Buffer.from(authority.cert).toString('base64'), skipTLSVerify: false },
    { name: 'u', token },
  )
  for (let resourceVersion = from; !signal.aborted; ) {
    const { promise: ended, resolve: end } = Promise.withResolvers<void>()
    const path = `/api/v1/namespaces/${namespace}/configmaps`
    const event = (type: string, object: ConfigMap): void => {
      seen.push(`${type} ${object.metadata?.name} ${object.metadata?.resourceVersion}`)
      resourceVersion = object.metadata?.resourceVersion ?? resourceVersion
    }
    const request = await new Watch(config).watch(path, { resourceVersion }, event, () => end()).catch(() => undefined)
    if (request) await Promise.race([ended, new Promise((stop) => signal.addEventListener('abort', stop))])
    request?.abort()
    await delay(50)
  }
}

/** Lists of ConfigMaps that a server has answered, and watches that began with the state. */
async function readsOfState(t: TestContext, server: TestServer): Promise<number> {
  const { bytes } = await http2Client(t, server, { token }).request('GET', '/metrics')
  const series = bytes
    .toString()
    .split('\n')
    .filter((line) => /^apiserver_(request_total\{.*verb="LIST"|watch_list_duration_seconds_count\{)/.test(line))
  const ours = series.filter((line) => line.includes('resource="configmaps"'))
  return ours.reduce((sum, line) => sum + Number(line.slice(line.lastIndexOf(' '))), 0)
}

test('informers go on without a list, and see each change once', { skip: withoutEtcd }, async (t) => {
  const [member] = startEtcd(t)
  const writer = clientAt(t, await start(t, member!.url, 'application/json'))
  let server = await start(t, member!.url, 'application/json')
  const { port } = server
  const stopping = new AbortController()
  t.after(() => stopping.abort())
  const written: string[] = []
  const write = async (name: string): Promise<void> => {
    const made = await writer.create(configMaps, { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name, namespace } })
    const changed = await writer.update(configMaps, { ...made, data: { a: 'b' } })
    written.push(`ADDED ${name} ${made.metadata.resourceVersion}`)
    written.push(`MODIFIED ${name} ${changed.metadata.resourceVersion}`)
  }
  await write('first')
  const before = await writer.list(configMaps, { namespace })
  const seen: string[] = []
  const following = follow(server, before.resourceVersion, seen, stopping.signal)
  const informer = new Informer<ConfigMap>({
    client: clientAt(t, server),
    resource: configMaps,
    namespace,
    log: () => {},
  })
  const known = new Map<string, string>()
  informer.onChange((object) => object && known.set(object.metadata.name!, object.metadata.resourceVersion!))
  const informing = informer.run(stopping.signal)
  await waitFor('the first object', () => known.has('first'))

  assert.ok((await readsOfState(t, server)) > 0)
  for (const [round, type] of (
    ['application/vnd.kubernetes.protobuf', 'application/yaml', 'application/json'] as const
  ).entries()) {
    await write(`before-${round}`)
    await server.stop()
    await write(`between-${round}`)
    server = await start(t, member!.url, type, port)
    await write(`after-${round}`)
    const last = written.at(-1)!
    await waitFor('the watch', () => seen.includes(last))
    await waitFor('the informer', () => known.get(`after-${round}`) === last.split(' ')[2])
    assert.equal(await readsOfState(t, server), 0)
  }
  assert.deepEqual(seen, written.slice(2))
  stopping.abort()
  await Promise.all([following, informing])
})
