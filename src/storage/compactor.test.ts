import assert from 'node:assert/strict'
import { test } from 'node:test'
import { startCompactor } from './compactor.ts'
import { memoryStore } from './memory/index.ts'

/** A clock whose time moves only when the test advances it. */
function handClock() {
  let time = 1_000
  const timers = new Set<{ ms: number; next: number; run: () => void }>()
  return {
    now: () => time,
    every: (ms: number, run: () => void) => {
      const timer = { ms, next: time + ms, run }
      timers.add(timer)
      return () => timers.delete(timer)
    },
    advance: async (ms: number) => {
      for (const end = time + ms; ; ) {
        const [first] = [...timers].sort((a, b) => a.next - b.next)
        if (!first || first.next > end) {
          time = end
          break
        }
        time = first.next
        first.next += first.ms
        first.run()
        await new Promise(setImmediate)
      }
    },
    running: () => timers.size,
  }
}

async function start(options: { intervalMs?: number; retainMs?: number; maxHistoryBytes?: number }) {
  const store = memoryStore()
  const clock = handClock()
  const write = async (times: number) => {
    for (let i = 0; i < times; i++)
      await store.commit({ conditions: [], operations: [{ key: '/a', value: Buffer.from(`${i}`) }] })
  }
  await write(9)
  return { store, clock, write, compactor: startCompactor(store, { ...options, clock }) }
}

const minute = 60_000

test('every 5 minutes the store is compacted to its revision of 5 minutes ago', async () => {
  const { store, clock, write } = await start({})
  await clock.advance(4 * minute)
  assert.equal(store.compactedRevision, 0)
  await write(10)
  await clock.advance(minute)
  assert.equal(store.compactedRevision, 10)
  await write(10)
  await clock.advance(5 * minute)
  assert.equal(store.compactedRevision, 20)
  await clock.advance(5 * minute)
  assert.equal(store.compactedRevision, 30)
})

test('history is retained for retainMs, even when that is longer than the interval', async () => {
  const { store, clock, write } = await start({ intervalMs: minute, retainMs: 3 * minute })
  const seen: number[] = []
  for (let i = 0; i < 6; i++) {
    await clock.advance(minute)
    seen.push(store.compactedRevision)
    await write(1)
  }
  assert.deepEqual(seen, [0, 0, 10, 10, 11, 12])
})

test('history is retained for retainMs, even when that is shorter than the interval', async () => {
  const { store, clock, write } = await start({ intervalMs: 10 * minute, retainMs: minute })
  await clock.advance(9 * minute - 1)
  await write(5)
  await clock.advance(minute + 1)
  assert.equal(store.compactedRevision, 15)
})

test('history beyond maxHistoryBytes is compacted to half of it, whatever its age', async () => {
  const { store, clock, write } = await start({ maxHistoryBytes: 100_000 })
  const bytesOf = async (times: number) => {
    const { historyBytes } = store
    await write(times)
    return store.historyBytes - historyBytes
  }
  const each = (await bytesOf(100)) / 100
  const perSecond = 20
  const cuts: number[] = []
  for (let second = 0; second < 200; second++) {
    await write(perSecond)
    const before = store.compactedRevision
    await clock.advance(1_000)
    const kept = ((await store.currentRevision()) - store.compactedRevision) * each
    assert.ok(kept <= 100_000 + perSecond * each, `${kept} bytes of history`)
    if (store.compactedRevision === before) continue
    cuts.push(second)
    assert.ok(kept > 50_000 - 2 * perSecond * each && kept <= 50_000 + perSecond * each, `${kept} bytes remain`)
  }
  assert.ok(cuts.length > 5, `${cuts.length} cuts`)
})

test('maxHistoryBytes never compacts to the newest revision, and retainMs still applies', async () => {
  const { store, clock, write } = await start({ maxHistoryBytes: 1 })
  await write(1_000)
  const revision = await store.currentRevision()
  await clock.advance(1_000)
  assert.ok(store.compactedRevision < revision)
  await write(1)
  await clock.advance(1_000)
  assert.equal(store.compactedRevision, revision)
  await clock.advance(minute)
  assert.equal(store.compactedRevision, revision)
  await clock.advance(10 * minute)
  assert.equal(store.compactedRevision, revision + 1)
})

test('a stopped compactor does not compact any more', async () => {
  const { store, clock, write, compactor } = await start({ intervalMs: minute, retainMs: minute })
  await compactor.stop()
  assert.equal(clock.running(), 0)
  await write(5)
  await clock.advance(10 * minute)
  assert.equal(store.compactedRevision, 0)
})

test('a closed store causes no error in the compactor', async () => {
  const { store, clock, compactor } = await start({ intervalMs: minute, retainMs: 0 })
  await store.close()
  await clock.advance(3 * minute)
  await compactor.stop()
})
