/** Tests of concurrency: lists and watches during writes, compaction, closing and disk failures. */
import assert from 'node:assert/strict'
import {
  type ChangeEvent,
  CompactedError,
  type Entry,
  type Store,
  StoreClosedError,
  StoreFailedError,
} from '../store.ts'
import { bytes, changesAfter, everything, follow, type On, put, remove, shown, turn } from './support.fixture.ts'

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

export function concurrency(on: On): void {
  on('a list plus the changes after it equals the final state, with concurrent writers', async (store) => {
    await fill(store)
    let writing = true
    const writer = async (id: number) => {
      for (let i = 0; writing; i++) {
        const at = key((i * 37 + id * 101) % (keys + 50))
        await (i % 4 === 0 ? remove(store, at) : put(store, at, `${id} ${i}`))
      }
    }
    const writers = Array.from({ length: 4 }, (_, id) => writer(id))
    const begun = follow(store, everything, 0)
    const lists: { entries: Entry[]; revision: number; watched: ReturnType<typeof follow> }[] = []
    for (let i = 0; i < 6; i++) {
      const { entries, revision, more } = await store.list(everything)
      assert.equal(more, false)
      for (const entry of entries) assert.ok(entry.revision <= revision)
      lists.push({ entries, revision, watched: follow(store, everything, revision) })
    }
    writing = false
    await Promise.all(writers)
    const truth = (await store.list(everything)).entries.map((entry) => shown(entry)!)
    for (const { entries, revision, watched } of lists) {
      assert.deepEqual(applied(entries, revision, begun.events), truth)
      while (watched.watch.position < store.revision) await turn()
      assert.deepEqual(applied(entries, revision, watched.events), truth)
    }
  })

  on('an observer that throws, in any callback, does not affect others', async (store) => {
    const warn = process.emitWarning
    const warnings: string[] = []
    process.emitWarning = (warning: string | Error) => {
      warnings.push(String(warning))
    }
    try {
      const thrower = () => {
        throw new Error('broken observer')
      }
      const ends: string[] = []
      const end = (error: Error) => ends.push(error.message)
      await put(store, '/a', '1')
      const watches = [
        store.watch(everything, 0, { events: thrower, end }),
        store.watch(everything, 1, { events: thrower, end }),
        store.watch(everything, 0, { events: () => {}, caughtUp: thrower, end }),
        store.watch(everything, 1, { events: () => {}, caughtUp: thrower, end }),
        store.watch(everything, 0, { events: thrower, end: thrower }),
        store.watch(everything, 1, { events: thrower, caughtUp: thrower, end: thrower }),
      ]
      const watched = follow(store, everything, 1)
      await watched.count(1)
      assert.equal((await put(store, '/a', '2')).committed, true)
      await watched.count(2)
      while (ends.length < 4) await turn()
      assert.deepEqual(ends, Array<string>(4).fill('broken observer'))
      assert.equal((await put(store, '/a', '3')).committed, true)
      assert.equal(watched.events.length, 3)
      for (const watch of watches) watch.stop()
      assert.equal(warnings.filter((warning) => warning.includes('broken observer')).length, 2)
    } finally {
      process.emitWarning = warn
    }
  })

  on('a list during a compaction shows one revision or fails with CompactedError', async (store) => {
    await fill(store)
    for (let round = 0; round < 5; round++) {
      const { revision } = store
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
      await store.compact(store.revision)
      const listed = await listing
      if (listed instanceof Error) assert.ok(listed instanceof CompactedError, String(listed))
      else assert.deepEqual(listed, before)
    }
  })

  on('reads and watches of history that is being compacted end with CompactedError', async (store) => {
    await fill(store)
    for (let i = 0; i < 200; i++) await put(store, key(i), 'again')
    const reading = changesAfter(store, everything, 1, { events: 1, bytes: 1 })
    await reading.next()
    const late = follow(store, everything, 1)
    await store.compact(store.revision)
    await assert.rejects(reading.next(), CompactedError)
    // The watch may have caught up before.
    if (late.watch.position < store.revision) assert.ok((await late.end()) instanceof CompactedError)
    late.stop()
  })

  on('closing ends all calls in progress, and none hangs', async (store) => {
    await fill(store)
    const live = follow(store, everything, 0)
    const late = follow(store, everything, 1)
    const reading = (async () => {
      for await (const { through } of changesAfter(store, everything, 1, { events: 1, bytes: 1 }))
        assert.ok(through > 1)
    })()
    const doing: Promise<unknown>[] = [
      store.list(everything),
      store.get(key(0)),
      store.changes(everything, 1),
      store.commit({
        conditions: [{ key: key(0), revision: 1 }],
        operations: [{ key: key(0), value: bytes('conflict') }],
      }),
      put(store, key(1), 'last'),
      store.compact(store.revision),
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
  })

  on('a store that cannot write reports it, still reads, and recovers by itself', async (store, { refuseWrites }) => {
    assert.equal(store.problem, undefined)
    if (!refuseWrites) return
    await put(store, '/a', '1')
    const watched = follow(store, everything, 0)
    const allow = refuseWrites()
    const refused = await Promise.allSettled([put(store, '/a', 'lost'), put(store, '/b', 'lost'), store.compact(2)])
    for (const outcome of refused)
      assert.ok(outcome.status === 'rejected' && outcome.reason instanceof StoreFailedError)
    assert.equal(typeof store.problem, 'string')
    assert.deepEqual((await store.list(everything)).entries.map(shown), ['/a=1@2'])
    assert.equal((await store.changes(everything, 1)).events.length, 1)
    allow()
    while (store.problem !== undefined) await turn()
    assert.deepEqual(await put(store, '/a', '2'), { committed: true, revision: 3 })
    assert.deepEqual(
      watched.events.map(({ key, value, revision, previous }) => `${key}=${value}@${revision} was ${previous?.value}`),
      ['/a=2@3 was 1'],
    )
    await store.compact(3)
    assert.equal(store.compactedRevision, 3)
  })
}
