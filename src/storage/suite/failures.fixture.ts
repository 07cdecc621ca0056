/** Tests of failures: observers that throw, and a disk that rejects writes. */
import assert from 'node:assert/strict'
import { StoreFailedError } from '../store.ts'
import { type Behaviours, everything, follow, put, shown, turn } from './support.fixture.ts'

export const failures: Behaviours = {
  'an observer that throws loses its watch and does not affect others': async (store) => {
    let ended: Error | undefined
    const broken = {
      events: () => {
        throw new Error('broken observer')
      },
      end: (error: Error) => {
        ended = error
      },
    }
    store.watch(everything, 1, broken)
    const watched = follow(store, everything, 1)
    assert.equal((await put(store, '/a', '1')).committed, true)
    assert.equal(ended?.message, 'broken observer')
    await put(store, '/a', '2')
    assert.equal(watched.events.length, 2)
  },

  'an observer that throws, in any callback, does not affect others': async (store) => {
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
        store.watch(everything, 2, { events: thrower, end }),
        store.watch(everything, 1, { events: thrower, end }),
        store.watch(everything, 2, { events: () => {}, caughtUp: thrower, end }),
        store.watch(everything, 1, { events: () => {}, caughtUp: thrower, end }),
        store.watch(everything, 2, { events: thrower, end: thrower }),
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
  },

  'a store that cannot write reports it, still reads, and recovers by itself': async (store, { refuseWrites }) => {
    assert.equal(store.problem, undefined)
    if (!refuseWrites) return
    await put(store, '/a', '1')
    const watched = follow(store, everything, 2)
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
  },
}
