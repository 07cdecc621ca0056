/** The memory cost of watches: limited, however many events there are and however slowly they are read. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { memoryStore } from '../../../src/storage/memory/index.ts'
import type { Store } from '../../../src/storage/store.ts'
import { storeLike } from '../../../src/storage/suite/store-like.fixture.ts'
import { type Client, clientOf, http2Client, json, protocols, until } from '../../support/api-client.ts'
import { serve } from '../../support/api-server.ts'
import { configMapOf, configMapsPath, createAll, each, nameOf } from '../../support/objects.ts'

const megabyte = 1024 * 1024

const write = (store: Store, i: number, bytes: number) =>
  store.commit({
    conditions: [],
    operations: [
      {
        key: `/registry/configmaps/default/${nameOf(i)}`,
        value: Buffer.from(
          `{"kind":"ConfigMap","apiVersion":"v1","metadata":{"name":"${nameOf(i)}",` +
            `"namespace":"default"},"data":{"k":"${'x'.repeat(bytes)}"}}`,
        ),
      },
    ],
  })

/** Counts lines. Reads none until `resume` is called. */
function paused(
  client: Client,
  query: string,
): { lines: () => number; resume(): void; cancel(): void; readonly status: Promise<number> } {
  let lines = 0
  const stream = client.lines(`${configMapsPath}?watch=true&${query}`, () => lines++)
  stream.pause()
  return { lines: () => lines, resume: stream.resume, cancel: stream.cancel, status: stream.status }
}

/** Resolves with `value` when it no longer changes. */
async function whenStable(value: () => number): Promise<number> {
  for (let last = -1; ; ) {
    if (value() === last) return last
    last = value()
    await sleep(300)
  }
}

for (const protocol of protocols) {
  test(`a watch from an old revision reads the store only as fast as its client (${protocol})`, async (t) => {
    const store = memoryStore()
    let eventsRead = 0
    const counting = storeLike(store, {
      changes: async (...args) => {
        const portion = await store.changes(...args)
        eventsRead += portion.events.length
        return portion
      },
    })
    const server = await serve(t, counting)
    const client = clientOf(t, protocol, server)
    const from = await store.currentRevision()
    const total = 20_000
    for (let i = 0; i < total; i++) await write(store, i % 100, 5_000)
    const watching = paused(client, `resourceVersion=${from}`)
    assert.equal(await watching.status, 200)
    const ahead = await whenStable(() => eventsRead)
    assert.ok(ahead < total / 2, `${ahead} of ${total} changes are waiting for a client that does not read`)
    watching.resume()
    await until('all events', () => watching.lines() === total)
    watching.cancel()
  })
}

test('watches with initial events that are not read use limited memory', async (t) => {
  const store = memoryStore()
  const server = await serve(t, store)
  for (let i = 0; i < 4000; i++) await write(store, i, 3_000)
  const clients = Array.from({ length: 20 }, () => http2Client(t, server))
  await clients[0]!.request('GET', `${configMapsPath}?limit=1`)
  const before = process.memoryUsage().arrayBuffers
  const watches = clients.map((client) => paused(client, 'resourceVersion=0'))
  await Promise.all(watches.map(({ status }) => status))
  await whenStable(() => Math.round(process.memoryUsage().arrayBuffers / megabyte))
  const cost = (process.memoryUsage().arrayBuffers - before) / megabyte
  // The complete state for each watch would be 240 MB. Clients and server share this process.
  assert.ok(cost < 160, `${Math.round(cost)} MB for 20 watches`)
  for (const { resume } of watches) resume()
  for (const { lines } of watches) await until('all events of each watch', () => lines() === 4000)
})

test('a watch that catches up during writes misses no event', async (t) => {
  const store = memoryStore()
  const server = await serve(t, store)
  const client = http2Client(t, server)
  const from = await store.currentRevision()
  for (let i = 0; i < 5000; i++) await write(store, i % 100, 2_000)
  const versions: number[] = []
  const stream = client.lines(`${configMapsPath}?watch=true&resourceVersion=${from}`, (line) =>
    versions.push(Number(/"resourceVersion":"(\d+)"/.exec(line)![1])),
  )
  assert.equal(await stream.status, 200)
  for (let i = 0; i < 300; i++) {
    await each(0, 10, 10, (j) => write(store, j, 2_000))
    await new Promise(setImmediate)
  }
  await until('all changes', () => versions.length === 8000)
  assert.deepEqual(
    versions,
    Array.from({ length: 8000 }, (_, i) => from + 1 + i),
  )
})

test('pages of an old revision read no more of the store than they return', async (t) => {
  const store = memoryStore()
  let read = 0
  const counting = storeLike(store, {
    list: async (options) => {
      const result = await store.list(options)
      read += result.entries.length
      return result
    },
  })
  const client = http2Client(t, await serve(t, counting))
  await createAll(client, configMapsPath, 0, 300, configMapOf)
  const { metadata } = json(await client.request('GET', `${configMapsPath}?limit=1`))
  await createAll(client, configMapsPath, 300, 310, configMapOf)
  read = 0
  const names: string[] = []
  let left: number | undefined = 300
  for (let query = `resourceVersion=${metadata.resourceVersion}&resourceVersionMatch=Exact&limit=50`; ; ) {
    const page = json(await client.request('GET', `${configMapsPath}?${query}`))
    names.push(...page.items.map((item) => item.metadata.name))
    left = left === undefined ? undefined : left - page.items.length
    assert.equal(page.metadata.resourceVersion, metadata.resourceVersion)
    if (!page.metadata.continue) break
    assert.equal(page.metadata.remainingItemCount, left)
    query = `limit=50&continue=${page.metadata.continue}`
  }
  assert.deepEqual(
    names,
    Array.from({ length: 300 }, (_, i) => nameOf(i)),
  )
  assert.ok(read <= 320, `${read} entries read for 300`)
})
