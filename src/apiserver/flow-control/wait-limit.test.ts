import assert from 'node:assert/strict'
import { test } from 'node:test'
import { waitLimit } from './wait-limit.ts'

test('a request waits for a quarter of its time since its arrival, and at most a minute', () => {
  const now = 1_000_000
  const table: readonly (readonly [ago: number, deadlineIn: number | undefined, timeout: number, limit: number])[] = [
    [0, undefined, 60_000, 15_000],
    [10_000, undefined, 60_000, 5_000],
    [0, 4_000, 60_000, 1_000],
    [10_000, 50_000, 60_000, 5_000],
    [0, undefined, 480_000, 60_000],
    [0, 480_000, 600_000, 60_000],
    [20_000, undefined, 60_000, -5_000],
  ]
  for (const [ago, deadlineIn, timeout, limit] of table) {
    const request = { received: now - ago, deadline: deadlineIn === undefined ? undefined : now + deadlineIn }
    assert.equal(waitLimit(request, timeout, now), limit, `${ago} ms ago, ${deadlineIn} ms remaining of ${timeout}`)
  }
})
