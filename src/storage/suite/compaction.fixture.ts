/** Tests of compaction: the versions that it removes and those that it keeps. */
import assert from 'node:assert/strict'
import { CompactedError } from '../store.ts'
import { type Behaviours, create, everything, follow, put, remove, shown, shownEvent, turn } from './support.fixture.ts'

export const compaction: Behaviours = {
  'compaction removes versions that only earlier revisions show': async (store) => {
    for (const key of ['/kept', '/deleted', '/replaced']) await put(store, key, '1')
    await remove(store, '/deleted')
    await put(store, '/replaced', '2')
    await put(store, '/replaced', '3')
    await put(store, '/deleted', 'again')
    assert.equal(store.compactedRevision, 0)
    await store.compact(6)
    assert.equal(store.compactedRevision, 6)
    await assert.rejects(store.list({ ...everything, revision: 5 }), CompactedError)
    await assert.rejects(store.get('/kept', 5), { name: 'CompactedError', compactedRevision: 6 })
    assert.deepEqual((await store.list({ ...everything, revision: 6 })).entries.map(shown), [
      '/kept=1@2',
      '/replaced=2@6',
    ])
    assert.deepEqual((await store.list({ ...everything, revision: 7 })).entries.map(shown), [
      '/kept=1@2',
      '/replaced=3@7',
    ])
    assert.deepEqual((await store.list(everything)).entries.map(shown), [
      '/deleted=again@8',
      '/kept=1@2',
      '/replaced=3@7',
    ])
    const watched = follow(store, everything, 6)
    await watched.count(2)
    assert.deepEqual(watched.events.map(shownEvent), ['7 put /replaced=3 was 2@6', '8 put /deleted=again'])
  },

  'a watch after a compacted revision ends with CompactedError': async (store) => {
    for (let i = 0; i < 5; i++) await put(store, '/a', `${i}`)
    await store.compact(4)
    const watched = follow(store, everything, 3)
    const error = await watched.end()
    assert.ok(error instanceof CompactedError)
    assert.equal(error.compactedRevision, 4)
    assert.equal(watched.events.length, 0)
  },

  'compacting twice, to an older or to the newest revision succeeds': async (store) => {
    for (let i = 0; i < 5; i++) await put(store, '/a', `${i}`)
    await put(store, '/b', '')
    await remove(store, '/b')
    await store.compact(3)
    await store.compact(3)
    await store.compact(2)
    assert.equal(store.compactedRevision, 3)
    await store.compact(await store.currentRevision())
    assert.deepEqual((await store.list(everything)).entries.map(shown), ['/a=4@6'])
    assert.deepEqual(await put(store, '/a', 'on'), { committed: true, revision: 9 })
    assert.equal((await create(store, '/b', 'back')).committed, true)
  },

  'compaction runs in parallel with writers, readers and watchers': async (store) => {
    const watched = follow(store, everything, 1)
    // A compaction may overtake a watch that a distant store has not begun yet.
    await put(store, '/k/first', '0')
    await watched.count(1)
    let left = 1_200
    const writer = async (id: number) => {
      while (left-- > 0)
        await (left % 7 === 0 ? remove(store, `/k/${left % 20}`) : put(store, `/k/${left % 20}`, `${id}`))
    }
    const compactor = async () => {
      while (left > 0) {
        // A compaction that overtakes a watch may end it.
        await store.compact(watched.events.at(-1)!.revision)
        const revision = await store.currentRevision()
        const before = (await store.list({ ...everything, revision })).entries.map(shown)
        await turn()
        assert.deepEqual((await store.list({ ...everything, revision })).entries.map(shown), before)
      }
    }
    await Promise.all([...Array.from({ length: 8 }, (_, id) => writer(id)), compactor()])
    assert.deepEqual(
      [...new Set(watched.events.map((event) => event.revision))],
      Array.from({ length: (await store.currentRevision()) - 1 }, (_, i) => i + 2),
    )
    const state = new Map<string, string>()
    for (const { type, key, value, revision } of watched.events) {
      if (type === 'put') state.set(key, `${key}=${value}@${revision}`)
      else state.delete(key)
    }
    assert.deepEqual((await store.list(everything)).entries.map(shown).sort(), [...state.values()].sort())
  },
}
