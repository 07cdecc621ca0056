import assert from 'node:assert/strict'
import { test } from 'node:test'
import { MovableClock } from '../../lib/clock/movable-clock.ts'
import { MetricsRegistry } from '../../lib/metrics/registry.ts'
import { workQueueMetrics } from './queue-metrics.ts'
import { WorkQueue, type WorkQueueOptions } from './work-queue.ts'

/** A queue whose work on each key blocks until the test settles it. */
function heldQueue(concurrency = 1, options: Partial<WorkQueueOptions> = {}) {
  const worked: string[] = []
  const held = new Map<string, { resolve: () => void; reject: (error: Error) => void }>()
  const failures: string[] = []
  const queue = new WorkQueue({
    ...options,
    concurrency,
    work: (key) => {
      worked.push(key)
      return new Promise((resolve, reject) => held.set(key, { resolve, reject }))
    },
    onFailure: (key) => failures.push(key),
  })
  const turn = () => new Promise(setImmediate)
  return { queue, worked, held, failures, turn }
}

test('a key that is added twice is processed once', async () => {
  const { queue, worked, held, turn } = heldQueue()
  queue.add('a')
  queue.add('a')
  queue.add('b')
  queue.start()
  held.get('a')!.resolve()
  await turn()
  held.get('b')!.resolve()
  await turn()
  assert.deepEqual(worked, ['a', 'b'])
})

test('a key that is added while in process is processed again afterwards, never concurrently', async () => {
  const { queue, worked, held, turn } = heldQueue(4)
  queue.start()
  queue.add('a')
  queue.add('a')
  queue.add('a')
  assert.deepEqual(worked, ['a'])
  held.get('a')!.resolve()
  await turn()
  assert.deepEqual(worked, ['a', 'a'])
  held.get('a')!.resolve()
  await turn()
  assert.deepEqual(worked, ['a', 'a'])
})

test('no key is processed before start', () => {
  const { queue, worked } = heldQueue()
  queue.add('a')
  assert.deepEqual(worked, [])
  queue.start()
  assert.deepEqual(worked, ['a'])
})

test('a failed key is retried', async () => {
  const { queue, worked, held, failures, turn } = heldQueue()
  queue.start()
  queue.add('a')
  held.get('a')!.reject(new Error('not now'))
  await turn()
  assert.deepEqual(failures, ['a'])
  while (worked.length < 2) await new Promise((resolve) => setTimeout(resolve, 1))
  held.get('a')!.resolve()
  await queue.stop()
})

test('stop waits for keys in process and accepts no more', async () => {
  const { queue, worked, held } = heldQueue()
  queue.start()
  queue.add('a')
  queue.add('b')
  let stopped = false
  const stop = queue.stop().then(() => {
    stopped = true
  })
  queue.add('c')
  assert.equal(stopped, false)
  held.get('a')!.resolve()
  await stop
  assert.deepEqual(worked, ['a'])
})

test('keys are ordered by priority, then by arrival; adding a key again can raise its priority', () => {
  const { queue, worked, held } = heldQueue()
  queue.add('a')
  queue.add('b', { priority: -100 })
  queue.add('c')
  queue.add('b', { priority: 5 })
  queue.add('c', { priority: -5 })
  queue.start()
  assert.deepEqual(worked, ['b'])
  held.get('b')!.resolve()
  return new Promise(setImmediate).then(() => {
    held.get('a')!.resolve()
    return new Promise(setImmediate).then(() => assert.deepEqual(worked, ['b', 'a', 'c']))
  })
})

test('a key that is delayed twice is processed once, at the earlier time', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] })
  const { queue, worked } = heldQueue(4)
  queue.start()
  queue.addAfter('a', 1000)
  queue.addAfter('a', 60_000)
  queue.addAfter('b', 60_000)
  queue.addAfter('b', 1000)
  t.mock.timers.tick(1000)
  assert.deepEqual(worked, ['a', 'b'])
  t.mock.timers.tick(60_000)
  assert.deepEqual(worked, ['a', 'b'])
})

/** A paused clock and a queue that follows it. */
function pausedQueue(options: Partial<WorkQueueOptions> = {}) {
  const clock = new MovableClock()
  clock.move(0, 0)
  return { clock, ...heldQueue(4, { ...options, clock }) }
}

/** Resolves when alarms that are due have rung. */
const turn = () => new Promise((resolve) => setTimeout(resolve, 5))

test('a delayed key follows the clock of the queue', async () => {
  const { queue, worked, clock } = pausedQueue()
  queue.start()
  queue.addAfter('a', 3_600_000)
  queue.addAfter('b', 1)
  await turn()
  assert.deepEqual(worked, [])
  clock.move(3_599_999, 0)
  await turn()
  assert.deepEqual(worked, ['b'])
  clock.move(1, 0)
  await turn()
  assert.deepEqual(worked, ['b', 'a'])
  clock.stop()
})

test('retries and delays of real time do not wait for a paused clock, and leave its delays in place', async () => {
  const { queue, worked, held, clock } = pausedQueue({ retryMs: { shortest: 1, longest: 1 } })
  queue.start()
  queue.addAfter('a', 60_000)
  queue.addAfter('a', 1, { isRealTime: true })
  while (worked.length < 1) await turn()
  held.get('a')!.reject(new Error('not now'))
  while (worked.length < 2) await turn()
  held.get('a')!.resolve()
  clock.move(60_000, 0)
  while (worked.length < 3) await turn()
  assert.deepEqual(worked, ['a', 'a', 'a'])
  clock.stop()
})

test('a retry leaves a later delay in place', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] })
  const { queue, worked, held, turn } = heldQueue()
  queue.start()
  queue.addAfter('a', 60_000)
  queue.addRateLimited('a')
  t.mock.timers.tick(5)
  held.get('a')!.resolve()
  await turn()
  assert.deepEqual(worked, ['a'])
  t.mock.timers.tick(60_000)
  assert.deepEqual(worked, ['a', 'a'])
})

test('the back-off of a failing key grows until it succeeds', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] })
  const { queue, worked, held, turn } = heldQueue(1, { retryMs: { shortest: 10, longest: 25 } })
  queue.start()
  queue.add('a')
  for (const [failures, ms] of [10, 20, 25, 25].entries()) {
    held.get('a')!.reject(new Error('not now'))
    await turn()
    assert.equal(queue.failures('a'), failures + 1)
    t.mock.timers.tick(ms - 1)
    assert.equal(worked.length, failures + 1)
    t.mock.timers.tick(1)
    assert.equal(worked.length, failures + 2)
  }
  held.get('a')!.resolve()
  await turn()
  assert.equal(queue.failures('a'), 0)
})

test('retries of all keys share a rate limit', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] })
  const { queue, worked } = heldQueue(100, { retryMs: { shortest: 1, longest: 1 }, retryLimit: { qps: 1, burst: 2 } })
  queue.start()
  for (const key of ['a', 'b', 'c', 'd']) queue.addRateLimited(key)
  t.mock.timers.tick(1)
  assert.deepEqual(worked, ['a', 'b'])
  t.mock.timers.tick(1000)
  assert.deepEqual(worked, ['a', 'b', 'c'])
})

test('drain processes all waiting keys, accepts no more, and does not retry', async () => {
  const { queue, worked, held, turn } = heldQueue()
  queue.start()
  queue.add('a')
  queue.add('b')
  const drained = queue.drain()
  queue.add('c')
  held.get('a')!.reject(new Error('not now'))
  await turn()
  held.get('b')!.resolve()
  await drained
  assert.deepEqual(worked, ['a', 'b'])
})

test('metrics have the names of upstream dashboards', async () => {
  const registry = new MetricsRegistry()
  const { queue, held, turn } = heldQueue(1, { name: 'pods', metrics: workQueueMetrics(registry) })
  const value = (line: string): number =>
    Number(
      registry
        .render()
        .split('\n')
        .find((text) => text.startsWith(line))
        ?.split(' ')[1],
    )
  queue.add('a')
  queue.add('a')
  queue.add('b')
  assert.equal(value('workqueue_depth{name="pods"}'), 2)
  assert.equal(value('workqueue_adds_total{name="pods"}'), 2)
  queue.start()
  assert.equal(value('workqueue_depth{name="pods"}'), 1)
  assert.ok(value('workqueue_unfinished_work_seconds{name="pods"}') > 0)
  assert.ok(value('workqueue_longest_running_processor_seconds{name="pods"}') > 0)
  held.get('a')!.reject(new Error('not now'))
  await turn()
  assert.equal(value('workqueue_retries_total{name="pods"}'), 1)
  assert.equal(value('workqueue_queue_duration_seconds_count{name="pods"}'), 2)
  assert.equal(value('workqueue_work_duration_seconds_count{name="pods"}'), 1)
  void queue.stop()
})
