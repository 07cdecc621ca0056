import assert from 'node:assert/strict'
import { test } from 'node:test'
import { FailedPodsBackoff } from './failed-pods-backoff.ts'

test('failed pods go less and less often, each node for itself', () => {
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
  // What has been quiet for long begins anew.
  now += 31 * 60_000
  assert.equal(backoff.delay('a', now), 0)
  assert.equal(backoff.delay('a', now), 1000)
})
