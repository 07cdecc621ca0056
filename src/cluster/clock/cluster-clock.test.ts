import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type ClockOrder, clusterClock, moveClock } from './cluster-clock.ts'

test('methods give orders, and refuse what is no duration or speed', async () => {
  const orders: ClockOrder[] = []
  const clock = clusterClock({ now: () => 0 }, async (order) => void orders.push(order))
  await clock.pause()
  await clock.setSpeed(60)
  await clock.step('1h30m')
  await clock.step(250)
  await clock.resume()
  assert.deepEqual(orders, [{ speed: 0 }, { speed: 60 }, { stepMs: 5_400_000 }, { stepMs: 250 }, { speed: 1 }])
  assert.equal(clock.now().toISOString(), '1970-01-01T00:00:00.000Z')
  for (const speed of [0, -1, 1_001, Number.NaN]) await assert.rejects(clock.setSpeed(speed), /the speed of a clock is/)
  for (const step of ['', 'soon', -1, Number.NaN, Number.POSITIVE_INFINITY])
    await assert.rejects(clock.step(step), /a step of a clock is a duration/)
  assert.equal(orders.length, 5)
})

test('a clock that cannot be moved says why', async () => {
  await assert.rejects(moveClock(undefined, 'its node is real', { speed: 0 }), {
    message: 'the clock of this cluster cannot be moved: its node is real',
  })
})
