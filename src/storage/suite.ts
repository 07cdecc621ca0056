/** What holds for every store, whatever its driver. Each driver's test runs it. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import {
  type ChangeEvent,
  type CommitResult,
  CompactedError,
  type Entry,
  FutureRevisionError,
  type KeyRange,
  prefixRange,
  type Store,
  StoreClosedError,
} from './store.ts'

export interface OpenedStore {
  readonly store: Store
  /** Closes the store and opens it again with the same data; absent for drivers that keep nothing. */
  reopen?(): Promise<Store>
  cleanup(): Promise<void>
}

const everything: KeyRange = { start: '', end: '\u{10ffff}' }
const bytes = (text: string) => Buffer.from(text)
const shown = (entry: Entry | undefined) => entry && `${entry.key}=${entry.value}@${entry.revision}`
const shownEvent = ({ type, key, value, revision, previous }: ChangeEvent) =>
  `${revision} ${type} ${key}${value ? `=${value}` : ''}${previous ? ` was ${previous.value}@${previous.revision}` : ''}`

const put = (store: Store, key: string, value: string) => store.commit({ conditions: [], operations: [{ key, value: bytes(value) }] })
const remove = (store: Store, key: string) => store.commit({ conditions: [], operations: [{ key, delete: true }] })
const create = (store: Store, key: string, value: string) => store.commit({ conditions: [{ key, revision: 0 }], operations: [{ key, value: bytes(value) }] })

/** A watch that collects what it is told. */
function follow(store: Store, range: KeyRange, after: number) {
  const events: ChangeEvent[] = []
  const calls: number[] = []
  let ended: Error | undefined
  let check = () => {}
  const watch = store.watch(range, after, {
    events: (more) => {
      assert.equal(ended, undefined, 'nothing follows the end')
      events.push(...more)
      calls.push(more.length)
      check()
    },
    end: (error) => {
      assert.equal(ended, undefined, 'a watch ends once')
      ended = error
      check()
    },
  })
  const until = (condition: () => boolean, what: string) =>
    new Promise<void>((resolve, reject) => {
      const timer = setTimeout(() => reject(new Error(`waited in vain for ${what}; got ${events.length} events, end: ${ended}`)), 10_000)
      check = () => {
        if (!condition()) return
        clearTimeout(timer)
        resolve()
      }
      check()
    })
  return {
    events,
    calls,
    stop: () => watch.stop(),
    ended: () => ended,
    count: (count: number) => until(() => events.length >= count, `${count} events`),
    end: async () => {
      await until(() => ended !== undefined, 'the end')
      return ended!
    },
  }
}

const turn = () => new Promise(setImmediate)

/** Runs all tests against stores made by `open`, each of which starts empty. */
export function storeSuite(name: string, open: () => Promise<OpenedStore>): void {
  const on = (behaviour: string, run: (store: Store, opened: OpenedStore) => Promise<void>) =>
    test(behaviour, async () => {
      const opened = await open()
      try {
        await run(opened.store, opened)
      } finally {
        await opened.cleanup()
      }
    })

  describe(name, () => {
    on('an empty store is at revision 1 and holds nothing', async (store) => {
      assert.equal(store.revision, 1)
      assert.equal(await store.get('/a'), undefined)
      assert.deepEqual(await store.list(everything), { entries: [], revision: 1, more: false })
    })

    on('the revision grows by one with each transaction, however many keys it writes', async (store) => {
      assert.deepEqual(await put(store, '/a', '1'), { committed: true, revision: 2 })
      const both = [
        { key: '/b', value: bytes('2') },
        { key: '/c', value: bytes('3') },
      ]
      assert.deepEqual(await store.commit({ conditions: [], operations: both }), { committed: true, revision: 3 })
      assert.deepEqual((await store.list(everything)).entries.map(shown), ['/a=1@2', '/b=2@3', '/c=3@3'])
      assert.equal(store.revision, 3)
    })

    on('a transaction that changes nothing leaves the revision as it is', async (store) => {
      await put(store, '/a', '1')
      assert.deepEqual(await remove(store, '/absent'), { committed: true, revision: 2 })
      assert.deepEqual(await store.commit({ conditions: [{ key: '/a', revision: 2 }], operations: [] }), { committed: true, revision: 2 })
      assert.equal(store.revision, 2)
    })

    on('values of any length and content come back as they were', async (store) => {
      for (const size of [0, 1, 2_000, 2_037, 4_096, 40_000, 1_500_000]) {
        const value = Buffer.alloc(size, Uint8Array.of(0, 255, 10, 7))
        await store.commit({ conditions: [], operations: [{ key: `/sized/${size}`, value }] })
        assert.ok(value.equals((await store.get(`/sized/${size}`))!.value), `${size} bytes by get`)
      }
      for (const { key, value } of (await store.list(prefixRange('/sized/'))).entries) assert.equal(`/sized/${value.length}`, key)
    })

    on('a condition of revision 0 holds for absent and deleted keys only', async (store) => {
      assert.equal((await create(store, '/a', '1')).committed, true)
      const again = await create(store, '/a', '2')
      assert.ok(!again.committed)
      assert.deepEqual(again.current.map(shown), ['/a=1@2'])
      await remove(store, '/a')
      assert.equal((await create(store, '/a', '3')).committed, true)
      assert.equal(shown(await store.get('/a')), '/a=3@4')
    })

    on('a condition on a revision holds only while the key is at it; a conflict shows what the keys really are', async (store) => {
      await put(store, '/a', '1')
      await put(store, '/b', '2')
      const conditions = [
        { key: '/a', revision: 2 },
        { key: '/b', revision: 2 },
        { key: '/c', revision: 0 },
      ]
      const result = await store.commit({ conditions, operations: [{ key: '/a', value: bytes('9') }] })
      assert.ok(!result.committed)
      assert.deepEqual(result.current.map(shown), ['/a=1@2', '/b=2@3', undefined])
      assert.equal(shown(await store.get('/a')), '/a=1@2')
      assert.equal((await store.commit({ conditions: [{ key: '/b', revision: 3 }], operations: [{ key: '/b', delete: true }] })).committed, true)
      assert.equal(await store.get('/b'), undefined)
    })

    on('of many writers who read the same revision exactly one wins', async (store) => {
      await put(store, '/a', '0')
      const attempts = await Promise.all(
        Array.from({ length: 20 }, (_, i) => store.commit({ conditions: [{ key: '/a', revision: 2 }], operations: [{ key: '/a', value: bytes(`${i}`) }] })),
      )
      assert.deepEqual(
        attempts.map((attempt) => attempt.committed),
        [true, ...Array<boolean>(19).fill(false)],
      )
      for (const attempt of attempts.slice(1)) assert.deepEqual(attempt.committed || attempt.current.map(shown), ['/a=0@3'])
    })

    on('counting up by compare-and-set from many writers loses no step', async (store) => {
      await put(store, '/n', '0')
      const increment = async () => {
        for (;;) {
          const entry = (await store.get('/n'))!
          const result = await store.commit({
            conditions: [{ key: '/n', revision: entry.revision }],
            operations: [{ key: '/n', value: bytes(`${Number(entry.value) + 1}`) }],
          })
          if (result.committed) return
        }
      }
      await Promise.all(Array.from({ length: 30 }, increment))
      assert.equal(shown(await store.get('/n')), '/n=30@32')
    })

    on('a commit sees those that were started before it, even if they are not durable yet', async (store) => {
      const results = await Promise.all([
        create(store, '/a', '1'),
        store.commit({ conditions: [{ key: '/a', revision: 2 }], operations: [{ key: '/a', delete: true }] }),
        create(store, '/a', '2'),
      ])
      assert.deepEqual(
        results,
        [2, 3, 4].map((revision): CommitResult => ({ committed: true, revision })),
      )
      assert.equal(shown(await store.get('/a', 2)), '/a=1@2')
      assert.equal(await store.get('/a', 3), undefined)
    })

    on('keys that no driver can hold are refused, and nothing of their transaction is done', async (store) => {
      for (const key of ['', 'a\0b', '\ud800', 'x'.repeat(2_000)]) await assert.rejects(put(store, key, '1'), RangeError)
      const twice = [
        { key: '/a', value: bytes('1') },
        { key: '/a', delete: true as const },
      ]
      await assert.rejects(store.commit({ conditions: [], operations: twice }), RangeError)
      assert.equal(store.revision, 1)
      const longest = `/${'ä'.repeat(890)}`
      await put(store, longest, 'fits')
      assert.equal(shown(await store.get(longest)), `${longest}=fits@2`)
    })

    on('ranges are ordered by the UTF-8 bytes of keys', async (store) => {
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
    })

    on('the start of a range belongs to it, the end does not; a NUL after a key means the next key', async (store) => {
      for (const key of ['/a', '/b', '/c']) await put(store, key, '1')
      const keys = async (range: KeyRange) => (await store.list(range)).entries.map((entry) => entry.key)
      assert.deepEqual(await keys({ start: '/a', end: '/c' }), ['/a', '/b'])
      assert.deepEqual(await keys({ start: '/a\0', end: '/c\0' }), ['/b', '/c'])
      assert.deepEqual(await keys({ start: '/c', end: '/a' }), [])
      assert.deepEqual(await keys({ start: '/b', end: '/b\0' }), ['/b'])
    })

    on('a limit cuts a list off and says whether there is more', async (store) => {
      for (const key of ['/a', '/b', '/c']) await put(store, key, '1')
      await remove(store, '/c')
      assert.equal((await store.list({ ...everything, limit: 1 })).more, true)
      assert.equal((await store.list({ ...everything, limit: 2 })).more, false)
      assert.equal((await store.list({ ...everything, limit: 2, revision: 4 })).more, true)
      assert.deepEqual((await store.list({ ...everything, limit: 1 })).entries.map(shown), ['/a=1@2'])
    })

    on('old revisions show the state of their time, deleted keys included', async (store) => {
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
    })

    on('keys with hundreds of versions are listed right at any revision', async (store) => {
      const keys = ['/a', '/b', '/c']
      for (let round = 0; round < 100; round++) await Promise.all(keys.map((key) => put(store, key, `${round}`)))
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
    })

    on('a revision that is yet to come is refused', async (store) => {
      await put(store, '/a', '1')
      await assert.rejects(store.get('/a', 3), FutureRevisionError)
      await assert.rejects(store.list({ ...everything, revision: 3 }), {
        name: 'FutureRevisionError',
        message: 'revision 3 is in the future: the store is at 2',
      })
      await assert.rejects(store.compact(3), FutureRevisionError)
    })

    on('a page after page list at one revision is not disturbed by writers', async (store) => {
      const keys = Array.from({ length: 50 }, (_, i) => `/p/${String(i).padStart(3, '0')}`)
      await Promise.all(keys.map((key) => put(store, key, 'old')))
      const { revision } = store
      const listed: string[] = []
      for (let start = '/p/'; ; ) {
        const page = await store.list({ start, end: '/p0', limit: 7, revision })
        listed.push(...page.entries.map((entry) => `${entry.key}=${entry.value}`))
        if (!page.more) break
        start = `${page.entries.at(-1)!.key}\0`
        await Promise.all([remove(store, keys[0]!), put(store, keys[listed.length]!, 'new'), put(store, `/p/${listed.length}-x`, 'new')])
      }
      assert.deepEqual(
        listed,
        keys.map((key) => `${key}=old`),
      )
    })

    on('watchers have been told, and reads show it, before a commit resolves', async (store) => {
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

    on('a watch tells what each change replaced or deleted', async (store) => {
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

    on('a watch is never told before it has been made, and not after it was stopped', async (store) => {
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

    on('each watch hears of its own range', async (store) => {
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

    on('watches from any revision miss nothing and hear nothing twice while writers run', async (store) => {
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
          await turn()
          await turn()
          await turn()
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

    on('an observer may commit, watch and stop from within its call', async (store) => {
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

    on('an observer that throws loses its watch and harms nobody else', async (store) => {
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

    on('compaction forgets what was before and keeps what can be seen at or after', async (store) => {
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
      assert.deepEqual((await store.list({ ...everything, revision: 6 })).entries.map(shown), ['/kept=1@2', '/replaced=2@6'])
      assert.deepEqual((await store.list({ ...everything, revision: 7 })).entries.map(shown), ['/kept=1@2', '/replaced=3@7'])
      assert.deepEqual((await store.list(everything)).entries.map(shown), ['/deleted=again@8', '/kept=1@2', '/replaced=3@7'])
      const watched = follow(store, everything, 6)
      await watched.count(2)
      assert.deepEqual(watched.events.map(shownEvent), ['7 put /replaced=3 was 2@6', '8 put /deleted=again'])
    })

    on('a watch after a compacted revision ends with CompactedError', async (store) => {
      for (let i = 0; i < 5; i++) await put(store, '/a', `${i}`)
      await store.compact(4)
      const watched = follow(store, everything, 3)
      const error = await watched.end()
      assert.ok(error instanceof CompactedError)
      assert.equal(error.compactedRevision, 4)
      assert.equal(watched.events.length, 0)
    })

    on('compacting twice, backwards, or everything is fine', async (store) => {
      for (let i = 0; i < 5; i++) await put(store, '/a', `${i}`)
      await put(store, '/b', '')
      await remove(store, '/b')
      await store.compact(3)
      await store.compact(3)
      await store.compact(2)
      assert.equal(store.compactedRevision, 3)
      await store.compact(store.revision)
      assert.deepEqual((await store.list(everything)).entries.map(shown), ['/a=4@6'])
      assert.deepEqual(await put(store, '/a', 'on'), { committed: true, revision: 9 })
      assert.equal((await create(store, '/b', 'back')).committed, true)
    })

    on('compaction goes on while writers, readers and watchers run', async (store) => {
      const watched = follow(store, everything, 0)
      let left = 1_200
      const writer = async (id: number) => {
        while (left-- > 0) await (left % 7 === 0 ? remove(store, `/k/${left % 20}`) : put(store, `/k/${left % 20}`, `${id}`))
      }
      const compactor = async () => {
        while (left > 0) {
          await store.compact(store.revision)
          const { revision } = store
          const before = (await store.list({ ...everything, revision })).entries.map(shown)
          await turn()
          assert.deepEqual((await store.list({ ...everything, revision })).entries.map(shown), before)
        }
      }
      await Promise.all([...Array.from({ length: 8 }, (_, id) => writer(id)), compactor()])
      assert.deepEqual(
        [...new Set(watched.events.map((event) => event.revision))],
        Array.from({ length: store.revision - 1 }, (_, i) => i + 2),
      )
      const state = new Map<string, string>()
      for (const { type, key, value, revision } of watched.events) {
        if (type === 'put') state.set(key, `${key}=${value}@${revision}`)
        else state.delete(key)
      }
      assert.deepEqual((await store.list(everything)).entries.map(shown).sort(), [...state.values()].sort())
    })

    on('closing waits for commits under way, ends watches, and refuses what comes after', async (store) => {
      await put(store, '/a', '1')
      const watched = follow(store, everything, 0)
      const late = follow(store, everything, 1)
      const stopped = follow(store, everything, 0)
      stopped.stop()
      const underWay = Promise.all(Array.from({ length: 20 }, (_, i) => put(store, `/k/${i}`, '1')))
      const closed = store.close()
      assert.deepEqual(
        (await underWay).map((result) => result.committed),
        Array<boolean>(20).fill(true),
      )
      await closed
      await store.close()
      assert.equal(watched.events.length, 20)
      assert.ok((await watched.end()) instanceof StoreClosedError)
      assert.ok((await late.end()) instanceof StoreClosedError)
      assert.equal(stopped.ended(), undefined)
      await assert.rejects(put(store, '/a', '2'), StoreClosedError)
      await assert.rejects(store.get('/a'), StoreClosedError)
      await assert.rejects(store.list(everything), StoreClosedError)
      await assert.rejects(store.compact(1), StoreClosedError)
      assert.ok((await follow(store, everything, 0).end()) instanceof StoreClosedError)
      assert.ok((await follow(store, everything, 1).end()) instanceof StoreClosedError)
    })

    on('what was committed is there after a restart, with its history', async (store, { reopen }) => {
      if (!reopen) return
      await put(store, '/a', '1')
      await put(store, '/a', '2')
      await put(store, '/b', '3')
      await remove(store, '/b')
      await store.compact(2)
      const again = await reopen()
      assert.equal(again.revision, 5)
      assert.equal(again.compactedRevision, 2)
      assert.deepEqual((await again.list(everything)).entries.map(shown), ['/a=2@3'])
      assert.deepEqual((await again.list({ ...everything, revision: 4 })).entries.map(shown), ['/a=2@3', '/b=3@4'])
      await assert.rejects(again.get('/a', 1), CompactedError)
      const watched = follow(again, everything, 2)
      await watched.count(3)
      assert.deepEqual(watched.events.map(shownEvent), ['3 put /a=2 was 1@2', '4 put /b=3', '5 delete /b was 3@4'])
      assert.deepEqual(await put(again, '/c', '6'), { committed: true, revision: 6 })
      assert.equal(watched.events.length, 4)
    })

    on('the revision goes on after everything was compacted and the store restarted', async (store, { reopen }) => {
      if (!reopen) return
      await put(store, '/a', '1')
      await remove(store, '/a')
      await store.compact(3)
      const again = await reopen()
      assert.equal(again.revision, 3)
      assert.equal(again.compactedRevision, 3)
      assert.deepEqual(await create(again, '/a', '2'), { committed: true, revision: 4 })
    })
  })
}
