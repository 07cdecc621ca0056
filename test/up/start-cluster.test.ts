/** Tests of `startCluster` as used by tests and programs: many clusters in one process. */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { request } from 'node:https'
import { join } from 'node:path'
import { test } from 'node:test'
import { type Cluster, type ClusterOptions, startCluster } from '../../src/cluster/start-cluster.ts'
import { ExplainedError } from '../../src/lib/explained-error.ts'
import { temporaryFolder } from './t8s-process.ts'

/** Sends a request of the administrator over verified TLS. */
async function call(
  { client }: Cluster,
  method: string,
  path: string,
  body?: object,
): Promise<{ status: number; body: { metadata?: { name?: string } } }> {
  const headers = { 'content-type': 'application/json' }
  const { ca, cert, key, url } = client
  const [response] = await once(
    request(new URL(path, url), { method, ca, cert, key, headers, agent: false }).end(body && JSON.stringify(body)),
    'response',
  )
  return { status: response.statusCode, body: JSON.parse(Buffer.concat(await response.toArray()).toString()) }
}

const configMap = (name: string) => ({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name } })
const configMaps = '/api/v1/namespaces/default/configmaps'

test('clusters in memory are independent', async (t) => {
  const clusters = await Promise.all([startCluster(), startCluster(), startCluster()])
  t.after(() => Promise.all(clusters.map((cluster) => cluster.stop())))
  assert.equal(new Set(clusters.map(({ port }) => port)).size, 3)
  const [first, second] = clusters
  assert.equal((await call(first, 'POST', configMaps, configMap('mine'))).status, 201)
  assert.equal((await call(first, 'GET', `${configMaps}/mine`)).status, 200)
  assert.equal((await call(second, 'GET', `${configMaps}/mine`)).status, 404)
})

test('a directory holds one cluster at a time, and the next one has its objects', async (t) => {
  const directory = join(temporaryFolder(t), 'data')
  const first = await startCluster({ storage: { directory } })
  t.after(() => first.stop())
  await assert.rejects(
    startCluster({ storage: { directory } }),
    (error: Error) => error.name === 'StoreOpenError' && error.message.includes(directory),
  )
  assert.equal((await call(first, 'POST', configMaps, configMap('kept'))).status, 201)
  await first.stop()
  await first.stop()
  const second = await startCluster({ storage: { directory } })
  t.after(() => second.stop())
  assert.equal((await call(second, 'GET', `${configMaps}/kept`)).body.metadata?.name, 'kept')
})

test('a failed start releases its resources', async (t) => {
  const directory = join(temporaryFolder(t), 'data')
  const other = await startCluster()
  t.after(() => other.stop())
  await assert.rejects(
    startCluster({ storage: { directory }, port: other.port }),
    (error) =>
      error instanceof ExplainedError &&
      error.message.includes('choose another with `port`, or `port: 0` for any free'),
  )
  const cluster = await startCluster({ storage: { directory } })
  await cluster.stop()
})

test('errors of the start speak of options', async (t) => {
  const file = join(temporaryFolder(t), 'file')
  writeFileSync(file, '')
  const refused: readonly (readonly [ClusterOptions, string])[] = [
    [{ storage: { directory: file } }, 'choose another directory with `storage.directory` or fix'],
    [{ bindAddress: '192.0.2.1' }, '192.0.2.1 is not an address of this machine: give one with `bindAddress`'],
    [{ nodes: { real: true } }, 'set storage to { directory }, or leave out `nodes.real`'],
    [{ runtimeConfig: ['batch'] }, '`runtimeConfig`: "batch" has no version; write GROUP/VERSION'],
    [{ apiServerFlags: ['--runtime-config=batch=true'] }, '--runtime-config: "batch" has no version'],
  ]
  for (const [options, message] of refused)
    await assert.rejects(
      startCluster(options),
      (error) => error instanceof ExplainedError && error.message.includes(message),
      message,
    )
})

test('the interval of the compactor is an option', async (t) => {
  const cluster = await startCluster({ compaction: { intervalMs: 10, retainMs: 0 } })
  t.after(() => cluster.stop())
  const deadline = performance.now() + 20_000
  for (;;) {
    const { status } = await call(cluster, 'GET', '/api/v1/namespaces?resourceVersion=1&resourceVersionMatch=Exact')
    if (status === 410) return
    assert.ok(performance.now() < deadline, `revision 1 is not compacted: ${status}`)
  }
})
