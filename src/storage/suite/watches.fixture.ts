/** Tests of watches: history, then live; no event missing, none twice. */
import assert from 'node:assert/strict'
import { type CommitResult, CompactedError, prefixRange } from '../store.ts'
import {
  type Behaviours,
  bytes,
  create,
  everything,
  follow,
  put,
  remove,
  shown,
  shownEvent,
  turn,
} from './support.fixture.ts'

export const watches: Behaviours = {
  'a change reaches watchers and reads before its commit resolves': async (store) => {
    const watched = follow(store, everything, 1)
    for (let i = 0; i < 5; i++) {
      const { committed } = await put(store, '/a', `${i}`)
      assert.ok(committed)
      assert.equal(watched.events.length, i + 1)
      assert.equal(await store.currentRevision(), i + 2)
      assert.equal(shown(await store.get('/a')), `/a=${i}@${i + 2}`)
    }
    watched.stop()
  },

  'a watch delivers the entry that each change replaced or deleted': async (store) => {
    const watched = follow(store, everything, 1)
    await create(store, '/a', '1')
    await put(store, '/a', '2')
    await remove(store, '/a')
    await put(store, '/a', '4')
    const expected = ['2 put /a=1', '3 put /a=2 was 1@2', '4 delete /a was 2@3', '5 put /a=4']
    assert.deepEqual(watched.events.map(shownEvent), expected)
    const late = follow(store, everything, 1)
    await late.count(4)
    assert.deepEqual(late.events.map(shownEvent), expected)
  },

  'a watch after revision 0 receives the whole history, unless it is compacted': async (store) => {
    await put(store, '/a', '1')
    await put(store, '/a', '2')
    const whole = follow(store, everything, 0)
    await whole.count(2)
    assert.deepEqual(whole.events.map(shownEvent), ['2 put /a=1', '3 put /a=2 was 1@2'])
    await store.compact(2)
    assert.ok((await follow(store, everything, 0).end()) instanceof CompactedError)
  },

  'a watch receives no events before `watch` returns or after it was stopped': async (store) => {
    await put(store, '/a', '1')
    const watched = follow(store, everything, 1)
    assert.equal(watched.events.length, 0)
    watched.stop()
    await put(store, '/a', '2')
    await turn()
    assert.equal(watched.events.length, 0)
    assert.equal(watched.ended(), undefined)
    const live = follow(store, everything, 3)
    await put(store, '/a', '3')
    live.stop()
    live.stop()
    await put(store, '/a', '4')
    assert.deepEqual(live.events.map(shownEvent), ['4 put /a=3 was 2@3'])
  },

  'each watch receives the events of its range': async (store) => {
    const ranges = ['/a/', '/b/', '/a/x/'].map((prefix) => follow(store, prefixRange(prefix), 1))
    await put(store, '/a/1', '')
    await store.commit({
      conditions: [],
      operations: [
        { key: '/a/x/1', value: bytes('') },
        { key: '/b/1', value: bytes('') },
      ],
    })
    await put(store, '/c/1', '')
    assert.deepEqual(
      ranges.map(({ events }) => events.map((event) => event.key)),
      [['/a/1', '/a/x/1'], ['/b/1'], ['/a/x/1']],
    )
  },

  'the changes of one transaction arrive together': async (store) => {
    const operations = ['/a', '/b', '/c'].map((key) => ({ key, value: bytes('1') }))
    const watched = follow(store, everything, 1)
    await store.commit({ conditions: [], operations })
    assert.deepEqual(watched.calls, [3])
    for (let i = 0; i < 400; i++) await store.commit({ conditions: [], operations })
    const late = follow(store, everything, 1)
    await late.count(401 * 3)
    for (const call of late.calls) assert.equal(call % 3, 0)
  },

  'watches from any revision receive each event once while writers run': async (store) => {
    const total = 1_500
    let written = 0
    const writer = async (id: number) => {
      while (written < total) {
        const key = `/k/${(written++ * 7 + id) % 40}`
        if (written % 10 === 0) await turn()
        if (written % 5 === 0) await remove(store, key)
        else await put(store, key, `${written}`)
      }
    }
    const watches: { after: number; watched: ReturnType<typeof follow> }[] = []
    const watcher = async () => {
      while (written < total) {
        const after = 1 + Math.floor(((await store.currentRevision()) - 1) * ((watches.length * 0.37) % 1))
        watches.push({ after, watched: follow(store, prefixRange('/k/'), after) })
        const revision = await store.currentRevision()
        while (written < total && (await store.currentRevision()) < revision + 4) await turn()
      }
    }
    const reference = follow(store, everything, 1)
    await Promise.all([...Array.from({ length: 8 }, (_, id) => writer(id)), watcher()])
    await reference.count((await store.currentRevision()) - 1)
    assert.deepEqual(
      reference.events.map((event) => event.revision),
      Array.from({ length: (await store.currentRevision()) - 1 }, (_, i) => i + 2),
    )
    assert.ok(watches.length >= 5, `${watches.length} watches`)
    for (const { after, watched } of watches) {
      await watched.count((await store.currentRevision()) - after)
      assert.deepEqual(watched.events.map(shownEvent), reference.events.slice(after - 1).map(shownEvent))
    }
  },

  'an observer may commit, watch and stop from within its callback': async (store) => {
    const inner: string[] = []
    let following: Promise<CommitResult> | undefined
    const first = store.watch(everything, 1, {
      events: (events) => {
        first.stop()
        store.watch(everything, events.at(-1)!.revision, {
          events: (more) => inner.push(...more.map(shownEvent)),
          end: () => {},
        })
        following = put(store, '/b', 'from within')
        assert.equal(events.length, 1)
      },
      end: () => {},
    })
    const other = follow(store, everything, 1)
    await put(store, '/a', '1')
    await following
    assert.deepEqual(other.events.map(shownEvent), ['2 put /a=1', '3 put /b=from within'])
    assert.deepEqual(inner, ['3 put /b=from within'])
  },
}
