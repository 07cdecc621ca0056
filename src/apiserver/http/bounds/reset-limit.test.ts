import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ResetLimit } from './reset-limit.ts'

const limits = { resets: 10, resetsPerSecond: 1 }

test('a burst of resets is allowed, more as time passes, and four times as many streams', () => {
  const requests = new ResetLimit(limits)
  for (let i = 0; i < 10; i++) assert.ok(requests.count('request', 0))
  assert.equal(requests.count('request', 0), false)
  assert.ok(requests.count('request', 3000))
  const streams = new ResetLimit(limits)
  for (let i = 0; i < 40; i++) assert.ok(streams.count('stream', 0))
  assert.equal(streams.count('stream', 0), false)
})

test('the allowance does not grow beyond the burst', () => {
  const limit = new ResetLimit(limits)
  for (let i = 0; i < 10; i++) assert.ok(limit.count('request', 1e9))
  assert.equal(limit.count('request', 1e9), false)
})
