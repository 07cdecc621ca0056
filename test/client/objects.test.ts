/** The client's higher functions against a server: apply, waitFor, finalizers, RestMapper, pages, events, election. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { DynamicClient } from '../../src/client/discovery/dynamic-client.ts'
import { NoMatch, RestMapper } from '../../src/client/discovery/rest-mapper.ts'
import { LeaderElector } from '../../src/client/election/leader-election.ts'
import { EventRecorder } from '../../src/client/events/event-recorder.ts'
import { SeriesRecorder } from '../../src/client/events/series-recorder.ts'
import { type ConfigMap, configMaps, deployments, events, leases } from '../../src/client/kinds.ts'
import { createOrUpdate } from '../../src/client/objects/create-or-update.ts'
import { addFinalizer, removeFinalizer } from '../../src/client/objects/finalizers.ts'
import { hasCondition, isDeleted, waitFor } from '../../src/client/objects/wait-for.ts'
import { clientFor } from '../support/client-for.ts'
import { type Lifetime, testCluster } from '../support/test-cluster.ts'
import { waitFor as until } from '../support/wait-for.ts'

const configMap = (name: string, data: Record<string, string> = {}): ConfigMap => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name, namespace: 'default' },
  data,
})
const serve = async (t: Lifetime) => clientFor(t, await testCluster(t, { controllers: [] }))

test('createOrUpdate creates, updates, or does nothing', async (t) => {
  const client = await serve(t)
  const at = { namespace: 'default', name: 'a' }
  const setWord = (word: string) =>
    createOrUpdate(client, configMaps, at, (object) => ({ ...object, data: { ...object.data, word } }))
  assert.equal(await setWord('one'), 'created')
  assert.equal(await setWord('one'), 'unchanged')
  assert.equal(await setWord('two'), 'updated')
  // Concurrent updates of one object all succeed.
  await Promise.all(
    Array.from({ length: 8 }, (_, i) =>
      createOrUpdate(client, configMaps, at, (object) => ({ ...object, data: { ...object.data, [i]: 'x' } })),
    ),
  )
  assert.equal(Object.keys((await client.get(configMaps, 'default', 'a')).data ?? {}).length, 9)
})

test('apply takes typed fields; with force: false, fields of others are a conflict', async (t) => {
  const client = await serve(t)
  const applied = await client.apply(
    configMaps,
    { metadata: { name: 'a', namespace: 'default' }, data: { a: '1' } },
    'one',
  )
  assert.equal(applied.data?.a, '1')
  const other = { metadata: { name: 'a', namespace: 'default' }, data: { a: '2' } }
  await assert.rejects(client.apply(configMaps, other, { fieldManager: 'two', force: false }), { code: 409 })
  assert.equal((await client.apply(configMaps, other, { fieldManager: 'two', dryRun: true })).data?.a, '2')
  assert.equal((await client.get(configMaps, 'default', 'a')).data?.a, '1')
})

test('waitFor ends when the condition holds, the object is deleted, or the timeout passes', async (t) => {
  const client = await serve(t)
  const at = { namespace: 'default', name: 'a' }
  const ready = waitFor(client, configMaps, at, (object) => object?.data?.ready === 'true')
  await client.create(configMaps, configMap('a'))
  await client.patch(configMaps, 'default', 'a', { data: { ready: 'true' } }, 'merge')
  assert.equal((await ready)?.data?.ready, 'true')
  await assert.rejects(
    waitFor(client, configMaps, at, isDeleted, { timeoutMs: 50 }),
    /ConfigMap default\/a did not meet the condition within 0\.05 s: last seen at resourceVersion \d+/,
  )
  const deleted = waitFor(client, configMaps, at, isDeleted)
  await client.delete(configMaps, 'default', 'a')
  assert.equal(await deleted, undefined)
  assert.equal(hasCondition('Available')(undefined), false)
})

test('a finalizer keeps a deleted object until it is removed', async (t) => {
  const client = await serve(t)
  const object = await addFinalizer(
    client,
    configMaps,
    await client.create(configMaps, configMap('a')),
    'example.com/x',
  )
  await client.delete(configMaps, 'default', 'a')
  const deleted = await client.get(configMaps, 'default', 'a')
  assert.ok(deleted.metadata.deletionTimestamp)
  await assert.rejects(removeFinalizer(client, configMaps, object, 'example.com/x'), { code: 409 })
  await removeFinalizer(client, configMaps, deleted, 'example.com/x')
  await removeFinalizer(client, configMaps, deleted, 'example.com/x')
  assert.equal(await client.find(configMaps, 'default', 'a'), undefined)
})

test('lists are read by page, by object, or with metadata only', async (t) => {
  const client = await serve(t)
  await Promise.all(Array.from({ length: 7 }, (_, i) => client.create(configMaps, configMap(`c${i}`, { a: 'b' }))))
  const sizes: number[] = []
  for await (const { items } of client.pages(configMaps, { namespace: 'default', limit: 3 })) sizes.push(items.length)
  assert.deepEqual(sizes, [3, 3, 1])
  const names: string[] = []
  for await (const { metadata } of client.items(configMaps, { namespace: 'default', limit: 2 })) {
    names.push(metadata.name ?? '')
    if (names.length === 3) break
  }
  assert.deepEqual(names, ['c0', 'c1', 'c2'])
  const [partial] = (await client.list(configMaps, { namespace: 'default', metadataOnly: true })).items
  assert.deepEqual([partial?.kind, partial?.data, partial?.metadata.name], ['ConfigMap', undefined, 'c0'])
})

test('RestMapper resolves kinds and names, and reads the discovery again on a miss', async (t) => {
  const client = await serve(t)
  const mapper = new RestMapper(client)
  const path = async (text: string): Promise<string> => {
    const { group, version, plural } = await mapper.forName(text)
    return [group, version, plural].filter(Boolean).join('/')
  }
  for (const word of ['po', 'pod', 'pods', 'Pod']) assert.equal(await path(word), 'v1/pods')
  for (const word of ['deploy', 'deployment.apps', 'deployments.v1.apps', 'Deployment.app'])
    assert.equal(await path(word), 'apps/v1/deployments')
  const { kind, namespaced, subresources } = await mapper.forKind('apps/v1', 'Deployment')
  assert.deepEqual([kind, namespaced, [...subresources].sort()], ['Deployment', true, ['scale', 'status']])
  assert.equal((await mapper.forKind('apps', 'Deployment')).plural, deployments.plural)
  await assert.rejects(mapper.forName('boats'), NoMatch)

  const dynamic = new DynamicClient(client, mapper)
  const boat = {
    apiVersion: 'example.com/v1',
    kind: 'Boat',
    metadata: { name: 'dinghy', namespace: 'default' },
    spec: { crew: 3 },
  }
  await assert.rejects(dynamic.create(boat), NoMatch)
  await dynamic.apply(
    {
      apiVersion: 'apiextensions.k8s.io/v1',
      kind: 'CustomResourceDefinition',
      metadata: { name: 'boats.example.com' },
      spec: {
        group: 'example.com',
        scope: 'Namespaced',
        names: { plural: 'boats', kind: 'Boat', shortNames: ['bo'] },
        versions: [
          {
            name: 'v1',
            served: true,
            storage: true,
            schema: { openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } },
          },
        ],
      },
    },
    'test',
  )
  const created = await until('the kind', () => dynamic.create(boat).catch(() => undefined))
  assert.deepEqual(created.spec, { crew: 3 })
  assert.equal(await path('bo'), 'example.com/v1/boats')
  assert.equal((await dynamic.list(boat)).items.length, 1)
  await dynamic.patch({ ...boat, ...boat.metadata }, { spec: { crew: 4 } })
  await dynamic.delete({ ...boat, ...boat.metadata })
  await assert.rejects(dynamic.get({ ...boat, ...boat.metadata }), { code: 404 })
})

test('events are counted, combined and limited; events.k8s.io events become series', async (t) => {
  const client = await serve(t)
  const object = await client.create(configMaps, configMap('a'))
  const recorder = new EventRecorder(client, 'test', (line) => assert.fail(line))
  for (let i = 0; i < 3; i++) recorder.record(object, 'Normal', 'Again', 'the same')
  for (let i = 0; i < 12; i++) recorder.record(object, 'Warning', 'Similar', `number ${i}`)
  const recorded = async (reason: string) =>
    (await client.list(events, { namespace: 'default', fieldSelector: `involvedObject.name=a,reason=${reason}` })).items
  await until('all events', async () => (await recorded('Similar')).some(({ count }) => count === 3))
  assert.deepEqual(
    (await recorded('Again')).map(({ count, message, source }) => [count, message, source?.component]),
    [[3, 'the same', 'test']],
  )
  const similar = await recorded('Similar')
  assert.equal(similar.length, 10)
  assert.equal(similar.find(({ count }) => count === 3)?.message, '(combined from similar events): number 11')

  const series = new SeriesRecorder(client, 'example.com/test', (line) => assert.fail(line))
  t.after(() => series.stop())
  for (let i = 0; i < 3; i++)
    series.record({ regarding: object, type: 'Normal', reason: 'Sailed', action: 'Sailing', note: 'away' })
  const sailed = await until('the series', async () => (await recorded('Sailed')).find((event) => event.series))
  assert.deepEqual(
    [sailed.series?.count, sailed.reportingComponent, sailed.action, sailed.message],
    [2, 'example.com/test', 'Sailing', 'away'],
  )
})

test('one of two candidates leads; the other takes over after a release or an expiry', async (t) => {
  const client = await serve(t)
  const times = { leaseDurationMs: 1500, renewDeadlineMs: 1000, retryPeriodMs: 50 }
  const history: string[] = []
  let leaders = 0
  const candidate = (identity: string, release = true) => {
    const stopping = new AbortController()
    const elector = new LeaderElector({ client, namespace: 'default', name: 'lead', identity, ...times, release })
    const work = async (signal: AbortSignal): Promise<void> => {
      assert.equal(++leaders, 1, 'only one leader at a time')
      history.push(identity)
      await new Promise((resolve) => signal.addEventListener('abort', resolve, { once: true }))
      leaders--
    }
    return { elector, stopping, ended: elector.run(work, stopping.signal) }
  }
  const a = candidate('a')
  await until('a to lead', () => history.length === 1)
  const b = candidate('b', false)
  await until('b to observe a', () => b.elector.leader === 'a')
  assert.equal(b.elector.isLeader, false)
  a.stopping.abort()
  assert.equal(await a.ended, 'stopped')
  await until('b to lead', () => history.length === 2)
  const c = candidate('c')
  // Not released, so it has to expire.
  b.stopping.abort()
  assert.equal(await b.ended, 'stopped')
  await until('c to lead', () => history.length === 3)
  assert.deepEqual(history, ['a', 'b', 'c'])
  const { spec } = await client.get(leases, 'default', 'lead')
  assert.deepEqual([spec?.holderIdentity, spec?.leaseTransitions, spec?.leaseDurationSeconds], ['c', 2, 2])

  // Another holder takes the lease: the leader must stop.
  await createOrUpdate(client, leases, { namespace: 'default', name: 'lead' }, (lease) => ({
    ...lease,
    spec: { ...lease.spec, holderIdentity: 'thief' },
  }))
  assert.equal(await c.ended, 'lost')
  assert.equal(c.elector.leader, '')
})

test('a leader whose server is unreachable stops before others may lead', async (t) => {
  const cluster = await testCluster(t, { controllers: [] })
  const client = clientFor(t, cluster)
  const elector = new LeaderElector({
    client,
    namespace: 'default',
    name: 'lead',
    identity: 'a',
    leaseDurationMs: 1000,
    renewDeadlineMs: 500,
    retryPeriodMs: 50,
  })
  const leading = Promise.withResolvers<void>()
  const ended = elector.run(async (signal) => {
    leading.resolve()
    await new Promise((resolve) => signal.addEventListener('abort', resolve, { once: true }))
  }, new AbortController().signal)
  await leading.promise
  await cluster.stop({ graceMs: 0 })
  assert.equal(await ended, 'lost')
})
