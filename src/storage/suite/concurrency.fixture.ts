/** Tests of concurrency: lists and watches during writes, compaction and closing. */
import assert from 'node:assert/strict'
import { type ChangeEvent, CompactedError, type Entry, type Store, StoreClosedError } from '../store.ts'
import {
  type Behaviours,
  bytes,
  changesAfter,
  everything,
  follow,
  put,
  remove,
  shown,
  turn,
} from './support.fixture.ts'

const keys = 3_000
const key = (i: number) => `/k/${String(i).padStart(5, '0')}`

/** Writes more entries than a driver reads in one turn. */
async function fill(store: Store): Promise<void> {
  const value = Buffer.alloc(500, 'v')
  for (let i = 0; i < keys; i += 500) {
    await store.commit({
      conditions: [],
      operations: Array.from({ length: 500 }, (_, j) => ({ key: key(i + j), value })),
    })
  }
}

/** Applies the changes after a list to its entries. */
function applied(entries: readonly Entry[], revision: number, events: readonly ChangeEvent[]): string[] {
  const state = new Map(entries.map((entry) => [entry.key, shown(entry)!]))
  for (const event of events) {
    if (event.revision <= revision) continue
    if (event.value) state.set(event.key, `${event.key}=${event.value}@${event.revision}`)
    else state.delete(event.key)
  }
  return [...state].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, text]) => text)
}

export const concurrency: Behaviours = {
  'a list plus the changes after it equals the final state, with concurrent writers': async (store) => {
    await fill(store)
    let writing = true
    const writer = async (id: number) => {
      for (let i = 0; writing; i++) {
        const at = key((i * 37 + id * 101) % (keys + 50))
        await (i % 4 === 0 ? remove(store, at) : put(store, at, `${id} ${i}`))
      }
    }
    const writers = Array.from({ length: 4 }, (_, id) => writer(id))
    const begun = follow(store, everything, await store.currentRevision())
    const lists: { entries: Entry[]; revision: number; watched: ReturnType<typeof follow> }[] = []
    for (let i = 0; i < 6; i++) {
      const { entries, revision, more } = await store.list(everything)
      assert.equal(more, false)
      for (const entry of entries) assert.ok(entry.revision <= revision)
      lists.push({ entries, revision, watched: follow(store, everything, revision) })
    }
    writing = false
    await Promise.all(writers)
    const { entries: newest, revision: last } = await store.list(everything)
    const truth = newest.map((entry) => shown(entry)!)
    const watches = [begun, ...lists.map(({ watched }) => watched)]
    for (const { watch } of watches) while (watch.position < last) await turn()
    for (const { entries, revision, watched } of lists) {
      assert.deepEqual(applied(entries, revision, begun.events), truth)
      assert.deepEqual(applied(entries, revision, watched.events), truth)
    }
  },

  'a list during a compaction shows one revision or fails with CompactedError': async (store) => {
    await fill(store)
    for (let round = 0; round < 5; round++) {
      const revision = await store.currentRevision()
      const before = (await store.list({ ...everything, revision })).entries.map(
        ({ key, revision }) => `${key}@${revision}`,
      )
      const listing = store.list({ ...everything, revision }).then(
        ({ entries }) => entries.map(({ key, revision }) => `${key}@${revision}`),
        (error: Error) => error,
      )
      await Promise.all(
        Array.from({ length: 100 }, (_, i) =>
          i % 2 === 0 ? remove(store, key(i * 29)) : put(store, key(i * 29), 'new'),
        ),
      )
      await store.compact(await store.currentRevision())
      const listed = await listing
      if (listed instanceof Error) assert.ok(listed instanceof CompactedError, String(listed))
      else assert.deepEqual(listed, before)
    }
  },

  'reads and watches of history that is being compacted end with CompactedError': async (store) => {
    await fill(store)
    for (let i = 0; i < 200; i++) await put(store, key(i), 'again')
    const reading = changesAfter(store, everything, 1, { events: 1, bytes: 1 })
    await reading.next()
    const late = follow(store, everything, 1)
    await store.compact(await store.currentRevision())
    await assert.rejects(reading.next(), CompactedError)
    // The watch may have caught up before.
    if (late.watch.position < (await store.currentRevision())) assert.ok((await late.end()) instanceof CompactedError)
    late.stop()
  },

  'closing ends all calls in progress, and none hangs': async (store) => {
    await fill(store)
    const live = follow(store, everything, await store.currentRevision())
    await put(store, key(0), 'live')
    const late = follow(store, everything, 1)
    const reading = (async () => {
      for await (const { through } of changesAfter(store, everything, 1, { events: 1, bytes: 1 }))
        assert.ok(through > 1)
    })()
    const doing: Promise<unknown>[] = [
      store.list(everything),
      store.get(key(0)),
      store.currentRevision(),
      store.changes(everything, 1),
      store.commit({
        conditions: [{ key: key(0), revision: 1 }],
        operations: [{ key: key(0), value: bytes('conflict') }],
      }),
      put(store, key(1), 'last'),
      store.compact(await store.currentRevision()),
      reading,
    ]
    await turn()
    const closed = store.close()
    for (const outcome of await Promise.allSettled(doing)) {
      if (outcome.status === 'rejected')
        assert.ok(
          outcome.reason instanceof StoreClosedError || outcome.reason instanceof CompactedError,
          String(outcome.reason),
        )
    }
    await closed
    assert.ok((await live.end()) instanceof StoreClosedError)
    assert.ok(late.ended() !== undefined)
  },
}
