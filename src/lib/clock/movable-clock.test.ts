import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { Worker } from 'node:worker_threads'
import { every, sleep } from './clock.ts'
import { ClockMemory } from './clock-memory.ts'
import { MovableClock } from './movable-clock.ts'

/** A clock on a machine whose time the test sets. */
function clockAt(time: number) {
  const machine = { time, now: () => machine.time, monotonic: () => machine.time - time }
  return { clock: new MovableClock(new ClockMemory(), machine), machine }
}
const turn = (): Promise<void> => delay(5)

test('shows the time of the machine until it is moved', () => {
  const { clock, machine } = clockAt(1_000)
  machine.time += 0.5
  assert.equal(clock.now(), 1_000.5)
  clock.move(0, 0)
  machine.time += 10_000
  assert.equal(clock.now(), 1_000, 'paused')
  clock.move(60_000, 10)
  machine.time += 1_000
  assert.equal(clock.now(), 71_000, 'ten times as fast')
  clock.stop()
})

test('alarms of a paused clock ring when it is moved to them, in their order', async () => {
  const clock = new MovableClock()
  clock.move(0, 0)
  const rung: string[] = []
  clock.after(2_000, () => rung.push('second'))
  clock.after(1_000, () => rung.push('first'))
  clock.after(1_000, () => rung.push('also first'))
  clock.after(1_000, () => rung.push('cancelled')).cancel()
  await turn()
  assert.deepEqual(rung, [])
  clock.move(1_000, 0)
  await turn()
  assert.deepEqual(rung, ['first', 'also first'])
  clock.move(5_000, 0)
  await turn()
  assert.deepEqual(rung, ['first', 'also first', 'second'])
  clock.stop()
})

test('alarms of a fast clock ring early', async () => {
  const clock = new MovableClock()
  clock.move(0, 10_000)
  let rings = 0
  const repeated = every(clock, 10_000, () => rings++)
  await sleep(clock, 60_000)
  repeated.cancel()
  assert.ok(rings >= 1, `${rings} rings`)
  clock.stop()
})

test('a correction of the time of the machine moves no alarm', () => {
  const machine = { time: 1_000_000, passed: 0, now: () => machine.time, monotonic: () => machine.passed }
  const clock = new MovableClock(new ClockMemory(), machine)
  clock.after(5_000, () => {})
  machine.time -= 3_600_000
  machine.passed += 1_000
  assert.equal(clock.memory.nextDueAfter(clock.current().elapsed), 5_000)
  assert.equal(clock.current().elapsed, 1_000)
  clock.stop()
})

test('a sleep ends when it is aborted', async () => {
  const clock = new MovableClock()
  clock.move(0, 0)
  const stopping = new AbortController()
  const asleep = sleep(clock, 1_000, stopping.signal)
  stopping.abort()
  await asleep
  await sleep(clock, 1_000, stopping.signal)
  clock.stop()
})

test('threads follow the clock, and publish their alarms', async () => {
  const clock = new MovableClock()
  clock.move(0, 0)
  const code = `
    import { parentPort, workerData } from 'node:worker_threads'
    const { ClockMemory } = await import(workerData.memory)
    const { MovableClock } = await import(workerData.clock)
    const clock = new MovableClock(new ClockMemory(workerData.buffer))
    clock.after(60_000, () => parentPort.postMessage(clock.now()))
    parentPort.on('message', () => process.exit())
    parentPort.postMessage('ready')`
  const worker = new Worker(new URL(`data:text/javascript,${encodeURIComponent(code)}`), {
    workerData: {
      buffer: clock.memory.buffer,
      memory: new URL('./clock-memory.ts', import.meta.url).href,
      clock: new URL('./movable-clock.ts', import.meta.url).href,
    },
  })
  const next = (): Promise<unknown> => new Promise((resolve) => worker.once('message', resolve))
  assert.equal(await next(), 'ready')
  const { elapsed } = clock.current()
  assert.equal(clock.memory.nextDueAfter(elapsed), elapsed + 60_000)
  const rung = next()
  const before = clock.now()
  clock.move(60_000, 0)
  assert.equal(await rung, before + 60_000)
  worker.postMessage('end')
  clock.stop()
})
