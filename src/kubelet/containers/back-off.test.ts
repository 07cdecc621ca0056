import assert from 'node:assert/strict'
import { test } from 'node:test'
import { BackOff, restartBackOff } from './back-off.ts'

test('the delay of restarts doubles from 10 seconds to 5 minutes', () => {
  const backOff = new BackOff(restartBackOff(), () => 0)
  const delays = Array.from({ length: 7 }, () => {
    backOff.next('web')
    return backOff.delayMs('web') / 1000
  })
  assert.deepEqual(delays, [10, 20, 40, 80, 160, 300, 300])
})

test('a key waits from its last failure, and starts again after ten minutes', () => {
  let now = 0
  const backOff = new BackOff(restartBackOff(), () => now)
  assert.equal(backOff.remainingMs('web', 0), 0)
  backOff.next('web')
  now = 4_000
  assert.equal(backOff.remainingMs('web', 1_000), 7_000)
  now = 600_001
  assert.equal(backOff.delayMs('web'), 0)
})

test('the longest delay of restarts can be set, and the first one is not longer', () => {
  assert.deepEqual(restartBackOff(90_000), { initialMs: 10_000, maxMs: 90_000, resetMs: 600_000 })
  assert.deepEqual(restartBackOff(2_000), { initialMs: 2_000, maxMs: 2_000, resetMs: 600_000 })
  assert.deepEqual(restartBackOff(undefined, true), { initialMs: 1_000, maxMs: 60_000, resetMs: 600_000 })
  assert.deepEqual(restartBackOff(300_000, true), { initialMs: 1_000, maxMs: 300_000, resetMs: 600_000 })
})
