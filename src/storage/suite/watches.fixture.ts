/** Tests of watches: history, then live; no event missing, none twice. */
import assert from 'node:assert/strict'
import { type CommitResult, prefixRange } from '../store.ts'
import { bytes, create, everything, follow, type On, put, remove, shown, shownEvent, turn } from './support.fixture.ts'

export function watches(on: On): void {
  on('a change reaches watchers and reads before its commit resolves', async (store) => {
    const watched = follow(store, everything, 0)
    for (let i = 0; i < 5; i++) {
      const { committed } = await put(store, '/a', `${i}`)
      assert.ok(committed)
      assert.equal(watched.events.length, i + 1)
      assert.equal(store.revision, i + 2)
      assert.equal(shown(await store.get('/a')), `/a=${i}@${i + 2}`)
    }
    watched.stop()
  })

  on('a watch delivers the entry that each change replaced or deleted', async (store) => {
    const watched = follow(store, everything, 0)
    await create(store, '/a', '1')
    await put(store, '/a', '2')
    await remove(store, '/a')
    await put(store, '/a', '4')
    const expected = ['2 put /a=1', '3 put /a=2 was 1@2', '4 delete /a was 2@3', '5 put /a=4']
    assert.deepEqual(watched.events.map(shownEvent), expected)
    const late = follow(store, everything, 1)
    await late.count(4)
    assert.deepEqual(late.events.map(shownEvent), expected)
  })

  on('a watch receives no events before `watch` returns or after it was stopped', async (store) => {
    await put(store, '/a', '1')
    const watched = follow(store, everything, 1)
    assert.equal(watched.events.length, 0)
    watched.stop()
    await put(store, '/a', '2')
    await turn()
    assert.equal(watched.events.length, 0)
    assert.equal(watched.ended(), undefined)
    const live = follow(store, everything, 0)
    await put(store, '/a', '3')
    live.stop()
    live.stop()
    await put(store, '/a', '4')
    assert.deepEqual(live.events.map(shownEvent), ['4 put /a=3 was 2@3'])
  })

  on('each watch receives the events of its range', async (store) => {
    const ranges = ['/a/', '/b/', '/a/x/'].map((prefix) => follow(store, prefixRange(prefix), 0))
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
  })

  on('the changes of one transaction arrive together', async (store) => {
    const operations = ['/a', '/b', '/c'].map((key) => ({ key, value: bytes('1') }))
    const watched = follow(store, everything, 0)
    await store.commit({ conditions: [], operations })
    assert.deepEqual(watched.calls, [3])
    for (let i = 0; i < 400; i++) await store.commit({ conditions: [], operations })
    const late = follow(store, everything, 1)
    await late.count(401 * 3)
    for (const call of late.calls) assert.equal(call % 3, 0)
  })

  on('watches from any revision receive each event once while writers run', async (store) => {
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
        const after = 1 + Math.floor((store.revision - 1) * ((watches.length * 0.37) % 1))
        watches.push({ after, watched: follow(store, prefixRange('/k/'), after) })
        const { revision } = store
        while (written < total && store.revision < revision + 4) await turn()
      }
    }
    const reference = follow(store, everything, 1)
    await Promise.all([...Array.from({ length: 8 }, (_, id) => writer(id)), watcher()])
    await reference.count(store.revision - 1)
    assert.deepEqual(
      reference.events.map((event) => event.revision),
      Array.from({ length: store.revision - 1 }, (_, i) => i + 2),
    )
    assert.ok(watches.length >= 5, `${watches.length} watches`)
    for (const { after, watched } of watches) {
      await watched.count(store.revision - after)
      assert.deepEqual(watched.events.map(shownEvent), reference.events.slice(after - 1).map(shownEvent))
    }
  })

  on('an observer may commit, watch and stop from within its callback', async (store) => {
    const inner: string[] = []
    let following: Promise<CommitResult> | undefined
    const first = store.watch(everything, 0, {
      events: (events) => {
        first.stop()
        store.watch(everything, 0, { events: (more) => inner.push(...more.map(shownEvent)), end: () => {} })
        following = put(store, '/b', 'from within')
        assert.equal(events.length, 1)
      },
      end: () => {},
    })
    const other = follow(store, everything, 0)
    await put(store, '/a', '1')
    await following
    assert.deepEqual(other.events.map(shownEvent), ['2 put /a=1', '3 put /b=from within'])
    assert.deepEqual(inner, ['3 put /b=from within'])
  })

  on('an observer that throws loses its watch and does not affect others', async (store) => {
    let ended: Error | undefined
    const broken = {
      events: () => {
        throw new Error('broken observer')
      },
      end: (error: Error) => {
        ended = error
      },
    }
    store.watch(everything, 0, broken)
    const watched = follow(store, everything, 0)
    assert.equal((await put(store, '/a', '1')).committed, true)
    assert.equal(ended?.message, 'broken observer')
    await put(store, '/a', '2')
    assert.equal(watched.events.length, 2)
  })
}
