/** Two servers on one store: what one has acknowledged, the other one knows, even before the change has arrived. */
import assert from 'node:assert/strict'
import { describe, type TestContext, test } from 'node:test'
import { memoryStore } from '../../src/storage/memory/index.ts'
import { storeLike } from '../../src/storage/suite/store-like.fixture.ts'
import { define, gadgetOf, gadgetsPath } from '../crd/definitions.ts'
import { type Client, clientOf, json } from '../support/api-client.ts'
import { serve, type TestServer } from '../support/api-server.ts'
import { waitFor } from '../support/wait-for.ts'
import { laggingStore } from './lagging-store.ts'

/** Changes of the other server arrive only after a second. */
const lagMs = 1000

interface Pair {
  readonly servers: readonly [TestServer, TestServer]
  readonly one: Client
  readonly two: Client
}

async function pair(t: TestContext): Promise<Pair> {
  const store = memoryStore()
  const servers = await Promise.all([
    serve(t, laggingStore(store, lagMs)),
    serve(t, laggingStore(store, lagMs)),
  ] as const)
  t.after(() => store.close())
  return { servers, one: clientOf(t, 'HTTP/2', servers[0]), two: clientOf(t, 'HTTP/2', servers[1]) }
}

const create = async (client: Client, path: string, body: object): Promise<number> => {
  const answer = await client.request('POST', path, { body })
  return answer.status
}
const named = (kind: string, name: string, more: object = {}): object => ({
  apiVersion: 'v1',
  kind,
  metadata: { name },
  ...more,
})

describe('what one server has acknowledged, the other one knows', () => {
  test('a definition: its resource is served', async (t) => {
    const { one, two } = await pair(t)
    await define(one)
    assert.equal((await two.request('GET', '/apis/example.com/v1/namespaces/default/others')).status, 404)
    assert.equal(await create(two, gadgetsPath, gadgetOf('g')), 201)
    assert.deepEqual(
      json(await one.request('GET', gadgetsPath)).items.map(({ metadata: { name } }) => name),
      ['g'],
    )
  })

  test('a namespace and its policy for pods', async (t) => {
    const { one, two } = await pair(t)
    const labels = { 'pod-security.kubernetes.io/enforce': 'restricted' }
    const namespace = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'strict', labels } }
    assert.equal(await create(one, '/api/v1/namespaces', namespace), 201)
    const path = '/api/v1/namespaces/strict'
    assert.equal(await create(two, `${path}/configmaps`, named('ConfigMap', 'c')), 201)
    const spec = { containers: [{ name: 'c', image: 'i', securityContext: { privileged: true } }] }
    assert.equal(await create(two, `${path}/pods`, named('Pod', 'p', { spec })), 403)
  })

  test('a new object, which is updated, patched and deleted', async (t) => {
    const { one, two } = await pair(t)
    const path = '/api/v1/namespaces/default/configmaps'
    const headers = { 'content-type': 'application/merge-patch+json' }
    for (const name of ['a', 'b', 'c']) assert.equal(await create(one, path, named('ConfigMap', name)), 201)
    const { metadata } = json(await two.request('PATCH', `${path}/a`, { body: { data: { by: 'two' } }, headers }))
    assert.equal((await one.request('PATCH', `${path}/a`, { body: { data: { by: 'one' } }, headers })).status, 200)
    const outdated = named('ConfigMap', 'a', { metadata: { ...metadata, name: 'a' } })
    assert.equal((await two.request('PUT', `${path}/a`, { body: outdated })).status, 409)
    assert.equal((await two.request('PUT', `${path}/b`, { body: named('ConfigMap', 'b') })).status, 200)
    assert.equal((await two.request('DELETE', `${path}/c`)).status, 200)
    assert.equal((await one.request('DELETE', `${path}/c`)).status, 404)
    assert.equal(await create(one, path, named('ConfigMap', 'c')), 201)
  })
})

test('a recount of one server retains the charge of another one that has not stored the object yet', async (t) => {
  const store = memoryStore()
  t.after(() => store.close())
  const { promise: opened, resolve: open } = Promise.withResolvers<void>()
  t.after(() => open())
  const held = storeLike(store, {
    async commit(transaction) {
      if (transaction.operations[0]?.key.endsWith('/held')) await opened
      return store.commit(transaction)
    },
  })
  const servers = await Promise.all([serve(t, laggingStore(store, 10)), serve(t, laggingStore(held, 10))])
  const [one, two] = servers.map((server) => clientOf(t, 'HTTP/2', server)) as [Client, Client]
  const base = '/api/v1/namespaces/default'
  await create(one, `${base}/resourcequotas`, named('ResourceQuota', 'q', { spec: { hard: { configmaps: '2' } } }))
  const used: string[] = []
  one.lines(`${base}/resourcequotas?watch=1`, (line) => {
    const { object } = JSON.parse(line) as { object: { status: { used?: { configmaps: string } } } }
    if (object.status.used) used.push(object.status.used.configmaps)
  })
  await waitFor('the quota to be counted', () => used.at(-1) === '0')
  used.length = 0
  const holding = create(two, `${base}/configmaps`, named('ConfigMap', 'held'))
  await waitFor('the charge', () => used.at(-1) === '1')
  assert.equal(await create(one, `${base}/configmaps`, named('ConfigMap', 'a')), 201)
  await one.request('DELETE', `${base}/configmaps/a`)
  await waitFor('the recount', () => used.at(-1) === '1' && used.length >= 3)
  open()
  assert.equal(await holding, 201)
  assert.equal(await create(one, `${base}/configmaps`, named('ConfigMap', 'b')), 201)
  assert.equal(await create(two, `${base}/configmaps`, named('ConfigMap', 'c')), 403)
  assert.ok(!used.includes('0'), used.join())
})
