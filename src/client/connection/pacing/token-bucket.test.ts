import assert from 'node:assert/strict'
import { test } from 'node:test'
import { TokenBucket } from './token-bucket.ts'

test('a burst passes immediately, later calls at the rate', () => {
  let now = 0
  const bucket = new TokenBucket({ qps: 10, burst: 2 }, () => now)
  assert.deepEqual([bucket.take(), bucket.take(), bucket.take(), bucket.take()], [0, 0, 100, 200])
  now = 1000
  assert.equal(bucket.take(), 0)
})

test('tryTake takes only available tokens', () => {
  let now = 0
  const bucket = new TokenBucket({ qps: 1, burst: 1 }, () => now)
  assert.equal(bucket.tryTake(), true)
  assert.equal(bucket.tryTake(), false)
  now = 1000
  assert.equal(bucket.tryTake(), true)
})
