import assert from 'node:assert/strict'
import { test } from 'node:test'
import { FailedPodsBackoff } from './failed-pods-backoff.ts'

test('the delay of failed pods doubles up to 15 minutes for each node', () => {
  const backoff = new FailedPodsBackoff()
  assert.equal(backoff.delay('a', 0), 0)
  assert.equal(backoff.delay('a', 400), 600)
  assert.equal(backoff.delay('b', 400), 0)
  assert.equal(backoff.delay('a', 1000), 0)
  assert.equal(backoff.delay('a', 1500), 1500)
  let now = 3000
  for (let i = 0; i < 20; i++) {
    assert.equal(backoff.delay('a', now), 0)
    now += backoff.delay('a', now)
  }
  assert.equal(backoff.delay('a', now), 0)
  assert.equal(backoff.delay('a', now), 15 * 60_000)
  // The back-off resets after a long time without failures.
  now += 31 * 60_000
  assert.equal(backoff.delay('a', now), 0)
  assert.equal(backoff.delay('a', now), 1000)
})
