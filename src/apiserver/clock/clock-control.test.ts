import assert from 'node:assert/strict'
import { test } from 'node:test'
import { every } from '../../lib/clock/clock.ts'
import { MovableClock } from '../../lib/clock/movable-clock.ts'
import { ClockControl } from './clock-control.ts'

test('a step rings every alarm at its time, and waits for what it has caused', async () => {
  const clock = new MovableClock()
  const activity = { requests: 0, revision: 1 }
  const control = new ClockControl(clock, async () => ({ ...activity }))
  await control.setSpeed(0)
  const start = clock.now()
  const times: number[] = []
  const beats = every(clock, 10_000, () => {
    times.push(Math.round((clock.now() - start) / 1000))
    activity.requests++
    setTimeout(() => {
      activity.requests--
      activity.revision++
    }, 5)
  })
  const { remainingMs, speed, time } = await control.step(35_000)
  beats.cancel()
  assert.deepEqual(times, [10, 20, 30])
  assert.deepEqual({ remainingMs, speed, requests: activity.requests }, { remainingMs: 0, speed: 0, requests: 0 })
  assert.equal(Date.parse(time) - start, 35_000)
  clock.stop()
})

test('steps run one after the other, and the clock goes on at its speed', async () => {
  const clock = new MovableClock()
  const control = new ClockControl(clock, async () => ({ requests: 0, revision: 1 }))
  await control.setSpeed(0)
  const start = clock.now()
  const times = (await Promise.all([control.step(1_000), control.step(2_000)])).map(({ time }) => Date.parse(time))
  assert.deepEqual(
    times.map((time) => time - start),
    [1_000, 3_000],
  )
  assert.equal((await control.setSpeed(500)).speed, 500)
  assert.equal(clock.current().speed, 500)
  clock.stop()
})
