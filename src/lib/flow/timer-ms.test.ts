import assert from 'node:assert/strict'
import { test } from 'node:test'
import { timerMs } from './timer-ms.ts'

test('timerMs limits times to the range of Node’s timers', () => {
  assert.equal(timerMs(-8.3), 0)
  assert.equal(timerMs(12.5), 12.5)
  assert.equal(timerMs(2 ** 40), 2 ** 31 - 1)
  assert.equal(timerMs(Number.POSITIVE_INFINITY), 2 ** 31 - 1)
})
