import assert from 'node:assert/strict'
import { test } from 'node:test'
import { SyncRunner } from './sync-runner.ts'

const settled = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))

/** A runner with a clock of its own; `syncs` has a line for each sync. */
function setUp({ minIntervalMs = 1000, periodMs = 30_000 } = {}) {
  const timers = new Set<{ at: number; callback: () => void }>()
  const syncs: string[] = []
  const failures: number[] = []
  const state = { now: 0, fails: false, block: undefined as Promise<void> | undefined }
  const runner = new SyncRunner({
    async sync(scope) {
      syncs.push(`${scope} at ${state.now}`)
      await state.block
      if (state.fails) throw new Error('no nft')
    },
    onFailure: (_error, retryMs) => void failures.push(retryMs),
    minIntervalMs,
    periodMs,
    schedule(callback, ms) {
      const timer = { at: state.now + ms, callback }
      timers.add(timer)
      return () => void timers.delete(timer)
    },
    now: () => state.now,
  })
  async function advance(ms: number): Promise<void> {
    const end = state.now + ms
    await settled()
    for (;;) {
      const [next] = [...timers].filter(({ at }) => at <= end).sort((a, b) => a.at - b.at)
      if (!next) break
      timers.delete(next)
      state.now = next.at
      next.callback()
      await settled()
    }
    state.now = end
  }
  return { runner, syncs, failures, state, advance }
}

test('the first sync is full, and waits for the start', async () => {
  const { runner, syncs, advance } = setUp()
  runner.request()
  await advance(5000)
  assert.deepEqual(syncs, [])
  runner.start()
  await advance(0)
  assert.deepEqual(syncs, ['all at 5000'])
})

test('changes within the interval are one sync, after a burst of two', async () => {
  const { runner, syncs, advance } = setUp()
  runner.start()
  await advance(10)
  runner.request()
  await advance(10)
  for (let i = 0; i < 5; i++) {
    runner.request()
    await advance(10)
  }
  await advance(3000)
  assert.deepEqual(syncs, ['all at 0', 'changes at 10', 'changes at 1000'])
})

test('a change during a sync causes another one', async () => {
  const { runner, syncs, state, advance } = setUp()
  const { promise, resolve } = Promise.withResolvers<void>()
  state.block = promise
  runner.start()
  await advance(0)
  runner.request()
  await advance(100)
  assert.equal(syncs.length, 1)
  resolve()
  await advance(0)
  assert.deepEqual(syncs, ['all at 0', 'changes at 100'])
})

test('checks are periodic', async () => {
  const { runner, syncs, advance } = setUp()
  runner.start()
  await advance(61_000)
  assert.deepEqual(syncs, ['all at 0', 'check at 30000', 'check at 60000'])
})

test('a failed sync is repeated in full, with a growing back-off up to the period', async () => {
  const { runner, syncs, failures, state, advance } = setUp({ periodMs: 5000 })
  state.fails = true
  runner.start()
  await advance(0)
  runner.request()
  await advance(8000)
  assert.deepEqual(syncs, ['all at 0', 'all at 1000', 'all at 3000', 'all at 7000'])
  assert.deepEqual(failures, [1000, 2000, 4000, 5000])
  state.fails = false
  await advance(5000)
  assert.equal(syncs.at(-1), 'all at 12000')
  runner.request()
  await advance(1)
  assert.equal(syncs.at(-1), 'changes at 13000')
})

test('a stop waits for the running sync', async () => {
  const { runner, syncs, state, advance } = setUp()
  const { promise, resolve } = Promise.withResolvers<void>()
  state.block = promise
  runner.start()
  await advance(0)
  runner.request()
  let isStopped = false
  const stopped = runner.stop().then(() => (isStopped = true))
  await advance(0)
  assert(!isStopped)
  resolve()
  await stopped
  await advance(60_000)
  assert.equal(syncs.length, 1)
})
