/**
 * Watches under load: no event is missed or repeated, from any start revision, and watches do not affect each other.
 */
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { prefixRange, type Store } from '../../../src/storage/store.ts'
import {
  type Client,
  clientOf,
  http2Client,
  type Json,
  json,
  protocols,
  type Stream,
  until,
} from '../../support/api-client.ts'
import { serve, startTestServer } from '../../support/api-server.ts'
import { configMapOf, configMapsPath, createAll, each, nameOf } from '../../support/objects.ts'

interface Event {
  readonly type: string
  readonly object: Json
}

interface WatchStream extends Stream {
  readonly events: readonly Event[]
  /** Returns `TYPE name revision` of each event. */
  readonly summaries: () => string[]
}

const summarize = ({ type, object: { metadata } }: Event): string =>
  `${type} ${metadata.name} ${metadata.resourceVersion}`

function watch(client: Client, query: string, path = configMapsPath): WatchStream {
  const events: Event[] = []
  const stream = client.lines(`${path}?watch=true&${query}`, (line) => events.push(JSON.parse(line) as Event))
  return { ...stream, events, summaries: () => events.map(summarize) }
}

const patch = (client: Client, i: number, body: object) =>
  client.request('PATCH', `${configMapsPath}/${nameOf(i)}`, {
    body,
    headers: { 'content-type': 'application/merge-patch+json' },
  })
const touch = (client: Client, i: number, value: number) => patch(client, i, { data: { n: String(value) } })
const label = (client: Client, i: number, labels: Record<string, string | null>) =>
  patch(client, i, { metadata: { labels } })
const revisionNow = async (client: Client, path = configMapsPath): Promise<number> =>
  Number(json(await client.request('GET', `${path}?limit=1`)).metadata.resourceVersion)

/** Returns all changes of ConfigMaps after a revision, from the history of the store. */
async function storedChanges(store: Store, after: number): Promise<string[]> {
  const changes: string[] = []
  const revision = await store.currentRevision()
  await new Promise<void>((resolve, reject) => {
    const watch = store.watch(prefixRange('/registry/configmaps/'), after, {
      events: (events) => {
        for (const { type, key, revision, previous } of events)
          changes.push(
            `${type === 'delete' ? 'DELETED' : previous ? 'MODIFIED' : 'ADDED'} ` +
              `${key.slice(key.lastIndexOf('/') + 1)} ${revision}`,
          )
      },
      caughtUp: () => resolve(),
      end: reject,
    })
    if (after >= revision) resolve()
    void watch
  })
  return changes
}

/** Starts writers that create, change and delete ConfigMaps until stopped. */
function startWriters(client: Client, names: number): { stop(): Promise<void> } {
  let writing = true
  const writer = async (id: number): Promise<void> => {
    for (let i = id; writing; i += 8) {
      const at = (i * 7919) % names
      if (i % 4 === 0) await client.request('DELETE', `${configMapsPath}/${nameOf(at)}`)
      else if (i % 4 === 1) await client.request('POST', configMapsPath, { body: configMapOf(at) })
      else await touch(client, at, i)
    }
  }
  const writers = Promise.all(Array.from({ length: 8 }, (_, id) => writer(id)))
  return {
    async stop() {
      writing = false
      await writers
    },
  }
}

for (const storage of ['memory', 'log'] as const) {
  test(`20 watches from random revisions get each event once while eight clients write (${storage})`, async (t) => {
    const server = await startTestServer(t, storage)
    const writer = http2Client(t, server)
    const start = await revisionNow(writer)
    await createAll(writer, configMapsPath, 0, 300, configMapOf)
    // More changes than the server caches: early revisions are read from the store.
    await each(0, 3000, 32, (i) => touch(writer, i % 300, i))
    const writers = startWriters(writer, 300)
    const clients = protocols.map((protocol) => clientOf(t, protocol, server))
    const watches: { from: number; watching: WatchStream }[] = []
    for (let i = 0; i < 20; i++) {
      const now = await server.store.currentRevision()
      // A third are old, a third recent, the others random.
      const from =
        i === 0
          ? start
          : i % 3 === 0
            ? start + Math.floor(Math.random() * 800)
            : i % 3 === 1
              ? now - Math.floor(Math.random() * 500)
              : start + Math.floor(Math.random() * (now - start))
      watches.push({ from, watching: watch(clients[i % 2]!, `resourceVersion=${from}`) })
      await new Promise((resolve) => setTimeout(resolve, 20))
    }
    await writers.stop()
    const last = `ADDED ${nameOf(999)} `
    await writer.request('POST', configMapsPath, { body: configMapOf(999) })
    for (const { from, watching } of watches) {
      await until(
        `the watch from ${from} sees the last change`,
        () => watching.events.length > 0 && summarize(watching.events.at(-1)!).startsWith(last),
      )
      assert.deepEqual(watching.summaries(), await storedChanges(server.store, from), `the watch from ${from}`)
    }
    assert.deepEqual(server.logLines, [])
  })
}

test('a watch from before the server start gets events that occur while it reads history', async (t) => {
  const one = await startTestServer(t)
  const client = http2Client(t, one)
  const from = await revisionNow(client)
  // Only other kinds have changed since.
  await each(0, 20, 1, (i) => client.request('POST', '/api/v1/namespaces', { body: { metadata: { name: `n${i}` } } }))
  const fresh = http2Client(t, await serve(t, one.store))
  // Loads the kind, so that the watches below start before the cached events.
  await fresh.request('GET', configMapsPath)
  const watches: WatchStream[] = []
  await each(0, 100, 4, (i) => {
    watches.push(watch(fresh, `resourceVersion=${from}`))
    return client.request('POST', configMapsPath, { body: configMapOf(i) })
  })
  const expected = await storedChanges(one.store, from)
  assert.equal(expected.length, 100)
  for (const watching of watches) {
    await until('all events', () => watching.events.length >= 100)
    assert.deepEqual(watching.summaries(), expected)
  }
})

test('first reads of a kind during writes return the complete state of their revision', async (t) => {
  for (const storage of ['memory', 'log'] as const) {
    const one = await startTestServer(t, storage)
    const client = http2Client(t, one)
    // Enough objects that the store reads them in several batches.
    await createAll(client, configMapsPath, 0, 2000, (i) => configMapOf(i, {}, 2000))
    const writers = startWriters(client, 2000)
    for (let round = 0; round < 10; round++) {
      const fresh = http2Client(t, await serve(t, one.store))
      const list = json(await fresh.request('GET', configMapsPath))
      const exact = json(
        await client.request(
          'GET',
          `${configMapsPath}?resourceVersion=${list.metadata.resourceVersion}&resourceVersionMatch=Exact`,
        ),
      )
      const versions = (items: readonly Json[]) =>
        items.map(({ metadata }) => `${metadata.name} ${metadata.resourceVersion}`)
      assert.deepEqual(versions(list.items), versions(exact.items))
    }
    await writers.stop()
  }
})

test('objects that start to match a selector are ADDED, others DELETED with their old labels', async (t) => {
  const one = await startTestServer(t)
  const client = http2Client(t, one)
  const from = await revisionNow(client)
  const selector = `labelSelector=${encodeURIComponent('tier=web')}`
  const live = watch(client, `resourceVersion=${from}&${selector}`)
  assert.equal(await live.status, 200)
  await createAll(client, configMapsPath, 0, 1, (i) => configMapOf(i, { tier: 'db' }))
  await label(client, 0, { tier: 'web' })
  await label(client, 0, { tier: 'web', other: '1' })
  await label(client, 0, { tier: 'db' })
  await label(client, 0, { tier: 'web' })
  await client.request('DELETE', `${configMapsPath}/${nameOf(0)}`)
  const expected = ['ADDED web', 'MODIFIED web', 'DELETED web', 'ADDED web', 'DELETED web']
  const seen = ({ events }: WatchStream): string[] =>
    events.map(({ type, object }) => `${type} ${object.metadata.labels?.tier}`)
  const revisions = ({ events }: WatchStream): number[] =>
    events.map(({ object }) => Number(object.metadata.resourceVersion))
  // The same from cached history, and from the store's through a server without cached events.
  const fresh = http2Client(t, await serve(t, one.store))
  for (const watching of [
    live,
    watch(client, `resourceVersion=${from}&${selector}`),
    watch(fresh, `resourceVersion=${from}&${selector}`),
  ]) {
    await until('five events', () => watching.events.length >= 5)
    assert.deepEqual(seen(watching), expected)
    assert.deepEqual(
      revisions(watching),
      [2, 3, 4, 5, 6].map((n) => from + n),
      'each event has the revision of its change',
    )
  }
})

test('a watch from a future revision gets no event before it', async (t) => {
  const client = http2Client(t, await startTestServer(t))
  const revision = await revisionNow(client)
  // The longest possible timeout; the test does not wait for it.
  const watching = watch(client, `resourceVersion=${revision + 5}&timeoutSeconds=9999999999`)
  assert.equal(await watching.status, 200)
  await createAll(client, configMapsPath, 0, 10, configMapOf)
  await until('the last five', () => watching.events.length === 5)
  assert.equal(watching.events[0]?.object.metadata.resourceVersion, String(revision + 6))
})

test('a watch with a field selector for one object gets only its events', async (t) => {
  const client = http2Client(t, await startTestServer(t))
  await createAll(client, configMapsPath, 0, 3, configMapOf)
  const watching = watch(client, `fieldSelector=metadata.name%3D${nameOf(1)}`)
  await until('the initial event', () => watching.events.length === 1)
  await each(0, 3, 1, (i) => touch(client, i, i))
  await until('the change', () => watching.events.length === 2)
  assert.deepEqual(
    watching.events.map(({ type, object }) => `${type} ${object.metadata.name}`),
    [`ADDED ${nameOf(1)}`, `MODIFIED ${nameOf(1)}`],
  )
})

for (const protocol of protocols) {
  test(`timeoutSeconds ends a watch cleanly, after a bookmark if there were events (${protocol})`, async (t) => {
    const server = await startTestServer(t)
    const client = clientOf(t, protocol, server)
    await createAll(client, configMapsPath, 0, 2, configMapOf)
    const revision = await revisionNow(client)
    const started = performance.now()
    const quiet = watch(client, `resourceVersion=${revision}&timeoutSeconds=1`)
    const calm = watch(
      client,
      `resourceVersion=${revision}&allowWatchBookmarks=true&timeoutSeconds=3`,
      '/api/v1/namespaces/other/configmaps',
    )
    const marked = watch(
      client,
      `resourceVersion=${revision}&allowWatchBookmarks=true&timeoutSeconds=3&labelSelector=no%3Dmatch`,
    )
    await Promise.all([quiet.status, calm.status, marked.status])
    const silent = watch(client, `resourceVersion=${revision}&timeoutSeconds=3`)
    await touch(client, 0, 1)
    await Promise.all([quiet, calm, marked, silent].map(({ ended }) => ended))
    assert.ok(performance.now() - started >= 2900)
    assert.deepEqual(silent.summaries(), [`MODIFIED ${nameOf(0)} ${revision + 1}`])
    // Something changed, but nothing that was selected.
    assert.deepEqual(
      marked.events.map(({ type, object }) => [type, object.kind, object.metadata.resourceVersion]),
      [['BOOKMARK', 'ConfigMap', String(revision + 1)]],
    )
    assert.deepEqual(
      calm.events.map(({ type }) => type),
      ['BOOKMARK'],
    )
  })

  test(`sendInitialEvents sends existing objects, a bookmark, then changes (${protocol})`, async (t) => {
    const server = await startTestServer(t)
    const client = clientOf(t, protocol, server)
    await createAll(client, configMapsPath, 0, 10, configMapOf)
    const watching = watch(client, 'sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true')
    await until('the bookmark', () => watching.events.some(({ type }) => type === 'BOOKMARK'))
    await touch(client, 3, 1)
    await until('the change', () => watching.events.length === 12)
    assert.deepEqual(
      watching.events.slice(0, 10).map(({ type, object }) => `${type} ${object.metadata.name}`),
      Array.from({ length: 10 }, (_, i) => `ADDED ${nameOf(i)}`),
    )
    const bookmark = watching.events[10]!
    assert.deepEqual(
      [bookmark.type, bookmark.object.metadata.annotations],
      ['BOOKMARK', { 'k8s.io/initial-events-end': 'true' }],
    )
    const change = watching.events[11]!
    assert.deepEqual([change.type, change.object.metadata.name], ['MODIFIED', nameOf(3)])
    assert.equal(Number(change.object.metadata.resourceVersion), Number(bookmark.object.metadata.resourceVersion) + 1)
    watching.cancel()
  })

  test(`a watch after a compacted revision is 200 and one ERROR event with 410 Expired (${protocol})`, async (t) => {
    const one = await startTestServer(t)
    const client = clientOf(t, protocol, one)
    const from = await revisionNow(client)
    await createAll(client, configMapsPath, 0, 20, configMapOf)
    // A starting server writes its own endpoints.
    const compacted = (await one.store.currentRevision()) - 5
    await one.store.compact(compacted)
    const fresh = clientOf(t, protocol, await serve(t, one.store))
    const watching = watch(fresh, `resourceVersion=${from}`)
    assert.equal(await watching.status, 200)
    await watching.ended
    assert.deepEqual(
      watching.events.map(({ type, object }) => [type, object.kind, object.code, object.reason]),
      [['ERROR', 'Status', 410, 'Expired']],
    )
    assert.match(watching.events[0]?.object.message ?? '', new RegExp(`^too old resource version: ${from} \\(\\d+\\)$`))
    const later = watch(fresh, `resourceVersion=${compacted}`)
    await until('the five changes after', () => later.events.length === 5)
    later.cancel()
  })

  test(`a stopping server ends watches cleanly and immediately (${protocol})`, async (t) => {
    const server = await startTestServer(t)
    const client = clientOf(t, protocol, server)
    const idle = clientOf(t, protocol, server)
    assert.equal((await idle.request('GET', '/version')).status, 200)
    await createAll(client, configMapsPath, 0, 1, configMapOf)
    const watches = Array.from({ length: 10 }, () => watch(client, ''))
    await until('all watches have started', () => watches.every(({ events }) => events.length === 1))
    const started = performance.now()
    const [, ...ends] = await Promise.all([server.stop(), ...watches.map(({ ended }) => ended)])
    assert.equal(ends.length, 10)
    // Idle connections must not delay the stop either.
    assert.ok(performance.now() - started < 3000, `it took ${(performance.now() - started).toFixed(0)} ms`)
    await assert.rejects(clientOf(t, protocol, server).request('GET', '/version'))
  })

  test(`a slow watch is aborted, others are not delayed (${protocol})`, async (t) => {
    const server = await startTestServer(t)
    const writer = http2Client(t, server)
    const readers = clientOf(t, protocol, server)
    const slow = watch(clientOf(t, protocol, server), '')
    assert.equal(await slow.status, 200)
    slow.pause()
    const quick = Array.from({ length: 5 }, () => watch(readers, ''))
    await Promise.all(quick.map(({ status }) => status))
    const delays: number[] = []
    for (let i = 0; i < 120; i++) {
      const started = performance.now()
      await writer.request('POST', configMapsPath, { body: configMapOf(i, {}, 500_000) })
      await until(`all see change ${i}`, () => quick.every(({ events }) => events.length === i + 1))
      delays.push(performance.now() - started)
    }
    delays.sort((a, b) => a - b)
    t.diagnostic(
      `60 MB to five quick watches: median ${delays[60]?.toFixed(0)} ms, longest ${delays.at(-1)?.toFixed(0)} ms`,
    )
    assert.ok((delays[114] ?? 0) < 1000)
    slow.resume()
    await assert.rejects(slow.ended)
    assert.ok(slow.events.length < 120, 'it did not get all events')
    for (const { cancel } of quick) cancel()
  })
}

test('1,050 watches cancelled together do not end the HTTP/2 connection', async (t) => {
  const server = await startTestServer(t)
  const client = http2Client(t, server)
  await createAll(client, configMapsPath, 0, 1, configMapOf)
  for (let round = 0; round < 2; round++) {
    const watches = Array.from({ length: 1050 }, () => watch(client, ''))
    await until('all watches have started', () => watches.every(({ events }) => events.length > 0))
    for (const { cancel } of watches) cancel()
    assert.equal((await client.request('GET', configMapsPath)).status, 200)
  }
  assert.equal(client.session.destroyed, false)
  assert.deepEqual(server.logLines, [])
})

test('300 watches with the same parameters share work and get 300 changes', async (t: TestContext) => {
  const server = await startTestServer(t)
  const client = http2Client(t, server)
  const reader = http2Client(t, server)
  const watches = Array.from({ length: 300 }, (_, i) => watch(reader, i % 2 ? '' : 'labelSelector=a%3Db'))
  await Promise.all(watches.map(({ status }) => status))
  await createAll(client, configMapsPath, 0, 300, (i) => configMapOf(i, i % 3 ? {} : { a: 'b' }))
  for (const [i, { events, summaries }] of watches.entries()) {
    await until(`watch ${i}`, () => events.length === (i % 2 ? 300 : 100))
    assert.equal(new Set(summaries()).size, events.length)
  }
})
