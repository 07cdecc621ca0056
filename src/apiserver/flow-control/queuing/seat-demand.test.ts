import assert from 'node:assert/strict'
import { test } from 'node:test'
import { SeatDemand } from './seat-demand.ts'

test('a demand has an average, a deviation and a maximum per period', () => {
  const demand = new SeatDemand(0)
  demand.set(4, 5000)
  demand.set(0, 10_000)
  demand.endPeriod(10_000)
  assert.deepEqual([demand.average, demand.deviation, demand.highWatermark, demand.smoothed], [2, 2, 4, 4])
})

test('the smoothed demand rises immediately and falls slowly', () => {
  const demand = new SeatDemand(0)
  demand.set(100, 0)
  demand.endPeriod(10_000)
  assert.equal(demand.smoothed, 100)
  demand.set(0, 10_000)
  // The maximum of a period is at least its initial value.
  demand.endPeriod(20_000)
  assert.equal(demand.highWatermark, 100)
  assert.ok(Math.abs(demand.smoothed - 97.7) < 1e-9)
  for (let period = 3; period <= 31; period++) demand.endPeriod(period * 10_000)
  assert.ok(demand.smoothed > 45 && demand.smoothed < 55, `${demand.smoothed}`)
})
