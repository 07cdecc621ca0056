/** Tests of history: reading in portions, catching up, and the position of a watch. */
import assert from 'node:assert/strict'
import { type ChangeEvent, CompactedError, FutureRevisionError, prefixRange, type Store } from '../store.ts'
import {
  type Behaviours,
  bytes,
  changesAfter,
  everything,
  follow,
  put,
  remove,
  shownEvent,
  turn,
} from './support.fixture.ts'

/** Commits `transactions` with `each` changes; the value of a key is the number of its transaction. */
async function manyChanges(store: Store, transactions: number, each: number): Promise<void> {
  for (let i = 0; i < transactions; i++) {
    const operations = Array.from({ length: each }, (_, j) => ({
      key: `/k/${String(j).padStart(5, '0')}`,
      value: bytes(`${i}`),
    }))
    await store.commit({ conditions: [], operations })
  }
}

export const history: Behaviours = {
  'changes are returned in portions of whole revisions with their last revision': async (store) => {
    await manyChanges(store, 30, 7)
    const events: ChangeEvent[] = []
    let portions = 0
    for (let after = 1; after < (await store.currentRevision()); portions++) {
      const portion = await store.changes(everything, after, { events: 20, bytes: 1_000_000 })
      assert.ok(portion.through > after)
      for (const { revision } of portion.events) assert.ok(revision > after && revision <= portion.through)
      assert.equal(portion.events.length % 7, 0)
      assert.ok(portion.events.length < 27, `${portion.events.length} events`)
      after = portion.through
      events.push(...portion.events)
    }
    assert.ok(portions >= 10)
    assert.deepEqual(
      events.map((event) => event.revision),
      Array.from({ length: 210 }, (_, i) => 2 + Math.floor(i / 7)),
    )
    for (const { key, value, revision, previous } of events) {
      assert.equal(`${value}`, `${revision - 2}`)
      assert.equal(
        previous && `${previous.key}=${previous.value}@${previous.revision}`,
        revision === 2 ? undefined : `${key}=${revision - 3}@${revision - 1}`,
      )
    }
  },

  'a portion of changes is bounded by the bytes of its values, too': async (store) => {
    for (let i = 0; i < 10; i++) await put(store, '/a', 'x'.repeat(1_000))
    const { events, through } = await store.changes(everything, 1, { events: 1_000, bytes: 3_500 })
    assert.equal(through, events.at(-1)!.revision)
    assert.ok(events.length >= 2 && events.length <= 4, `${events.length} events`)
  },

  'changes are filtered by range, and `through` advances without matches': async (store) => {
    await put(store, '/a/1', '1')
    await put(store, '/b/1', '2')
    await remove(store, '/a/1')
    await put(store, '/b/1', '4')
    const of = async (prefix: string, after: number) => {
      const { events, through } = await store.changes(prefixRange(prefix), after)
      assert.equal(through, 5)
      return events.map(shownEvent)
    }
    assert.deepEqual(await of('/a/', 1), ['2 put /a/1=1', '4 delete /a/1 was 1@2'])
    assert.deepEqual(await of('/b/', 3), ['5 put /b/1=4 was 2@3'])
    assert.deepEqual(await of('/c/', 1), [])
    assert.deepEqual(await of('/a/', 5), [])
  },

  'changes after a compacted or a future revision are rejected': async (store) => {
    for (let i = 0; i < 5; i++) await put(store, '/a', `${i}`)
    await store.compact(4)
    await assert.rejects(store.changes(everything, 3), CompactedError)
    assert.deepEqual((await store.changes(everything, 4)).events.map(shownEvent), [
      '5 put /a=3 was 2@4',
      '6 put /a=4 was 3@5',
    ])
    await assert.rejects(store.changes(everything, 7), FutureRevisionError)
  },

  'a watch catches up over a long history in whole transactions without blocking others': async (store, opened) => {
    const [transactions, each] = [opened.longHistory ?? 100, 2_000]
    await manyChanges(store, transactions, each)
    let seen = 0
    let turns = 0
    await new Promise<void>((resolve, reject) => {
      const count = () => {
        turns++
        if (seen < transactions * each) setImmediate(count)
      }
      setImmediate(count)
      store.watch(everything, 1, {
        events: (events) => {
          assert.equal(events.length % each, 0)
          for (const { key, value, revision } of events) {
            if (
              revision === 2 + Math.floor(seen / each) &&
              `${value}` === `${revision - 2}` &&
              key === `/k/${String(seen % each).padStart(5, '0')}`
            )
              seen++
            else reject(new Error(`after ${seen} changes came ${key} at ${revision}`))
          }
        },
        caughtUp: () =>
          seen === transactions * each ? resolve() : reject(new Error(`caught up after ${seen} changes`)),
        end: reject,
      })
    })
    assert.ok(turns >= 10, `others had ${turns} turns`)
    let read = 0
    for await (const { events } of changesAfter(store, everything, 1)) read += events.length
    assert.equal(read, transactions * each)
  },

  'the position of a watch increases with every commit and covers all delivered events': async (store) => {
    await put(store, '/a/1', '1')
    const live = follow(store, prefixRange('/b/'), 2)
    assert.equal(live.watch.position, 2)
    await put(store, '/a/1', '2')
    assert.equal(live.watch.position, 3)
    await put(store, '/b/1', '3')
    assert.deepEqual([live.watch.position, live.events.length], [4, 1])
    const positions: number[] = []
    const late = store.watch(everything, 1, {
      events: (events) => {
        for (const { revision } of events) assert.ok(revision <= late.position)
        positions.push(late.position)
      },
      end: () => {},
    })
    assert.equal(late.position, 1)
    while (late.position < (await store.currentRevision())) await turn()
    assert.equal(positions.at(-1), 4)
    await put(store, '/c', '5')
    assert.equal(late.position, 5)
    assert.equal(live.watch.position, 5)
    await store.commit({ conditions: [], operations: [] })
    assert.equal(late.position, 5)
  },

  'historyBytes counts replaced and deleted values, not new ones': async (store) => {
    const before = store.historyBytes
    // Other processes add to the history of such a store, so that its size is unknown.
    if (store.isShared) {
      assert.equal(before, 0)
      return
    }
    await put(store, '/a', 'x'.repeat(5_000))
    assert.equal(store.historyBytes, before)
    await put(store, '/a', 'x'.repeat(100))
    const replaced = store.historyBytes - before
    assert.ok(replaced >= 5_000 && replaced < 6_000, `${replaced} bytes`)
    await remove(store, '/a')
    const removed = store.historyBytes - before - replaced
    assert.ok(removed >= 100 && removed < 1_100, `${removed} bytes`)
    await store.compact(await store.currentRevision())
    assert.equal(store.historyBytes, before + replaced + removed)
  },
}
