import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Pod } from '../pod-types.ts'
import { NodeShutdown } from './node-shutdown.ts'

const settled = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))

const podOf = (uid: string, priority: number): Pod =>
  ({ metadata: { uid, name: uid, namespace: 'default' }, spec: { priority, containers: [] } }) as unknown as Pod

function setUp({ delayMs = 30_000, canExtend = true, failures = 0 } = {}) {
  const calls: string[] = []
  const steps: string[] = []
  const logged: string[] = []
  const timers: { readonly callback: () => void; readonly ms: number }[] = []
  const ends = new Map<string, () => void>()
  const state = { delayMs, failures, locks: 0 }
  let announced: (isShuttingDown: boolean) => void = () => {}
  const watch = Promise.withResolvers<void>()
  const shutdown = new NodeShutdown({
    logind: {
      async maxDelayMs() {
        if (state.failures-- > 0) throw new Error('no system bus')
        return state.delayMs
      },
      async setMaxDelay(ms) {
        calls.push(`set the delay to ${ms}`)
        if (canExtend) state.delayMs = ms
      },
      async lock() {
        const number = ++state.locks
        calls.push(`lock ${number}`)
        return { release: () => void calls.push(`release ${number}`) }
      },
      async watch(callback) {
        announced = callback
        return { ended: watch.promise, stop: () => {} }
      },
    },
    periods: [
      { priority: 0, seconds: 20 },
      { priority: 1000, seconds: 10 },
    ],
    activePods: () => [podOf('critical', 1000), podOf('usual', 0)],
    end(pod, { graceSeconds, status }) {
      calls.push(`end ${pod.metadata.uid} ${graceSeconds} ${status?.reason}`)
      return new Promise((resolve) => ends.set(pod.metadata.uid ?? '', resolve))
    },
    record: (_reason, message) => void calls.push(message),
    observe: (step) => void steps.push(step),
    reportNode: () => {},
    log: (line) => void logged.push(line),
    schedule(callback, ms) {
      timers.push({ callback, ms })
      return () => {}
    },
  })
  return { shutdown, calls, steps, logged, timers, ends, watch, announce: (value: boolean) => announced(value) }
}

test('groups of pods end one after the other; the lock is released after the last', async () => {
  const { shutdown, calls, steps, ends, announce } = setUp()
  await shutdown.start()
  announce(true)
  await settled()
  assert.deepEqual(steps, ['start'])
  assert.deepEqual(calls, ['lock 1', 'Shutdown manager detected shutdown event', 'end usual 20 Terminated'])
  assert.equal(shutdown.problem, 'node is shutting down')
  assert.equal(shutdown.rejection?.reason, 'NodeShutdown')
  ends.get('usual')?.()
  await settled()
  assert.equal(calls.at(-1), 'end critical 10 Terminated')
  ends.get('critical')?.()
  await settled()
  assert.deepEqual(steps, ['start', 'end'])
  assert.equal(calls.at(-1), 'release 1')
})

test('a group that takes too long does not delay the next one', async () => {
  const { shutdown, calls, timers, announce } = setUp()
  await shutdown.start()
  announce(true)
  await settled()
  assert.equal(timers.at(-1)?.ms, 20_000)
  timers.at(-1)?.callback()
  await settled()
  assert.equal(calls.at(-1), 'end critical 10 Terminated')
})

test('a cancelled shutdown takes a new lock, and admits pods', async () => {
  const { shutdown, calls, announce } = setUp()
  await shutdown.start()
  announce(true)
  announce(false)
  await settled()
  assert.equal(shutdown.rejection, undefined)
  assert.ok(calls.includes('Shutdown manager detected shutdown cancellation'))
  assert.deepEqual(calls.slice(-2), ['lock 2', 'release 1'])
})

test('the delay of logind is extended to the sum of all periods', async () => {
  const { shutdown, calls } = setUp({ delayMs: 5_000 })
  await shutdown.start()
  assert.deepEqual(calls, ['set the delay to 30000', 'lock 1'])
})

test('a delay that cannot be extended is logged once, and tried again', async () => {
  const { shutdown, calls, logged, timers } = setUp({ delayMs: 5_000, canExtend: false })
  await shutdown.start()
  timers.at(-1)?.callback()
  await settled()
  assert.equal(logged.length, 1)
  assert.match(logged[0] ?? '', /current value of InhibitDelayMaxSec \(5s\) is less than requested ShutdownGracePeriod/)
  assert.ok(!calls.includes('lock 1'))
})

test('the watch begins again when the bus restarts', async () => {
  const { shutdown, calls, timers, watch } = setUp({ failures: 1 })
  await shutdown.start()
  timers.at(-1)?.callback()
  await settled()
  assert.deepEqual(calls, ['lock 1'])
  watch.resolve()
  await settled()
  timers.at(-1)?.callback()
  await settled()
  assert.deepEqual(calls, ['lock 1', 'lock 2', 'release 1'])
})
