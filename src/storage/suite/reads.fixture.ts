/** Tests of reads: ordered ranges, limits, old revisions. */
import assert from 'node:assert/strict'
import { FutureRevisionError, type KeyRange, prefixRange } from '../store.ts'
import { type Behaviours, bytes, everything, follow, put, remove, shown } from './support.fixture.ts'

export const reads: Behaviours = {
  'ranges are ordered by the UTF-8 bytes of keys': async (store) => {
    const keys = ['/a', '/a!', '/a/b', '/a0', '/ab', '/b', '/z', '/ä', '/日', '/\uff5e', '/\u{1f600}', '/\u{1f601}']
    await Promise.all(keys.toReversed().map((key) => put(store, key, key)))
    const listed = (await store.list(everything)).entries.map((entry) => entry.key)
    assert.deepEqual(
      listed,
      keys.toSorted((a, b) => Buffer.compare(bytes(a), bytes(b))),
    )
    assert.deepEqual(listed, keys)
    assert.deepEqual(
      (await store.list(prefixRange('/a/'))).entries.map((entry) => entry.key),
      ['/a/b'],
    )
    assert.deepEqual(
      (await store.list({ start: '/日', end: '/\u{1f601}' })).entries.map((entry) => entry.key),
      ['/日', '/\uff5e', '/\u{1f600}'],
    )
    const watched = follow(store, { start: '/\uff5e', end: '/\u{1f601}' }, 1)
    await watched.count(2)
    await put(store, '/\u{1f600}', 'again')
    assert.deepEqual(watched.events.map((event) => event.key).sort(), ['/\uff5e', '/\u{1f600}', '/\u{1f600}'].sort())
  },

  'a range includes its start and excludes its end; a key plus NUL is the next key': async (store) => {
    for (const key of ['/a', '/b', '/c']) await put(store, key, '1')
    const keys = async (range: KeyRange) => (await store.list(range)).entries.map((entry) => entry.key)
    assert.deepEqual(await keys({ start: '/a', end: '/c' }), ['/a', '/b'])
    assert.deepEqual(await keys({ start: '/a\0', end: '/c\0' }), ['/b', '/c'])
    assert.deepEqual(await keys({ start: '/c', end: '/a' }), [])
    assert.deepEqual(await keys({ start: '/b', end: '/b\0' }), ['/b'])
  },

  'a limit cuts a list off and reports whether there are more entries': async (store) => {
    for (const key of ['/a', '/b', '/c']) await put(store, key, '1')
    await remove(store, '/c')
    assert.equal((await store.list({ ...everything, limit: 1 })).more, true)
    assert.equal((await store.list({ ...everything, limit: 2 })).more, false)
    assert.equal((await store.list({ ...everything, limit: 2, revision: 4 })).more, true)
    assert.deepEqual((await store.list({ ...everything, limit: 1 })).entries.map(shown), ['/a=1@2'])
  },

  'count equals the number of entries of an unlimited list, at any revision': async (store) => {
    for (const key of ['/a', '/b', '/c']) await put(store, key, '1')
    await remove(store, '/b')
    assert.equal(await store.count(everything), 2)
    assert.equal(await store.count({ ...everything, revision: 4 }), 3)
    assert.equal(await store.count({ start: '/b', end: '/d', revision: 3 }), 1)
    await assert.rejects(store.count({ ...everything, revision: 6 }), FutureRevisionError)
  },

  'old revisions show the state of their time, deleted keys included': async (store) => {
    await put(store, '/a', '1')
    await put(store, '/b', '2')
    await put(store, '/a', '3')
    await remove(store, '/a')
    await put(store, '/a', '5')
    const states = [[], ['/a=1@2'], ['/a=1@2', '/b=2@3'], ['/a=3@4', '/b=2@3'], ['/b=2@3'], ['/a=5@6', '/b=2@3']]
    for (const [i, state] of states.entries()) {
      const result = await store.list({ ...everything, revision: i + 1 })
      assert.deepEqual(result.entries.map(shown), state)
      assert.equal(result.revision, i + 1)
      assert.equal(
        shown(await store.get('/a', i + 1)),
        state.find((entry) => entry.startsWith('/a')),
      )
    }
    assert.equal((await store.list({ ...everything, revision: 0 })).revision, 6)
  },

  'keys with hundreds of versions are listed correctly at any revision': async (store) => {
    const keys = ['/a', '/b', '/c']
    for (let round = 0; round < 100; round++) for (const key of keys) await put(store, key, `${round}`)
    await remove(store, '/b')
    for (const round of [0, 1, 50, 98, 99]) {
      const revision = 4 + 3 * round
      const { entries } = await store.list({ ...everything, revision })
      assert.deepEqual(
        entries.map(shown),
        keys.map((key, i) => `${key}=${round}@${2 + i + 3 * round}`),
      )
    }
    assert.deepEqual(
      (await store.list(everything)).entries.map((entry) => entry.key),
      ['/a', '/c'],
    )
  },

  'a future revision is rejected': async (store) => {
    await put(store, '/a', '1')
    await assert.rejects(store.get('/a', 3), FutureRevisionError)
    await assert.rejects(store.list({ ...everything, revision: 3 }), {
      name: 'FutureRevisionError',
      message: 'revision 3 is in the future: the store is at 2',
    })
    await assert.rejects(store.compact(3), FutureRevisionError)
  },

  'a paged list at one revision is not affected by writers': async (store) => {
    const keys = Array.from({ length: 50 }, (_, i) => `/p/${String(i).padStart(3, '0')}`)
    await Promise.all(keys.map((key) => put(store, key, 'old')))
    const revision = await store.currentRevision()
    const listed: string[] = []
    for (let start = '/p/'; ; ) {
      const page = await store.list({ start, end: '/p0', limit: 7, revision })
      listed.push(...page.entries.map((entry) => `${entry.key}=${entry.value}`))
      if (!page.more) break
      start = `${page.entries.at(-1)!.key}\0`
      await Promise.all([
        remove(store, keys[0]!),
        put(store, keys[listed.length]!, 'new'),
        put(store, `/p/${listed.length}-x`, 'new'),
      ])
    }
    assert.deepEqual(
      listed,
      keys.map((key) => `${key}=old`),
    )
  },
}
