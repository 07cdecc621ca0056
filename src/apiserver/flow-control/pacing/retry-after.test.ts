import assert from 'node:assert/strict'
import { test } from 'node:test'
import { RetryAfter } from './retry-after.ts'

const refuse = (retry: RetryAfter, second: number, times: number): void => {
  for (let i = 0; i < times; i++) retry.countRejection(second)
}

test('Retry-After doubles while many requests are rejected, up to half a minute', () => {
  const retry = new RetryAfter()
  const values: number[] = []
  for (let second = 100; second < 200; second++) {
    refuse(retry, second, 100)
    values.push(retry.seconds)
  }
  assert.deepEqual([...new Set(values)], [1, 2, 4, 8, 16, 32])
})

test('a few rejections change nothing, and Retry-After falls second by second once they become few', () => {
  const retry = new RetryAfter()
  refuse(retry, 1000, 2)
  refuse(retry, 1001, 1)
  assert.equal(retry.seconds, 1)
  refuse(retry, 1002, 50)
  refuse(retry, 1003, 50)
  refuse(retry, 1004, 1)
  assert.equal(retry.seconds, 2)
  const values: number[] = []
  for (let second = 1100; second < 1104; second++) {
    refuse(retry, second * 10, 1)
    values.push(retry.seconds)
  }
  assert.deepEqual(values, [1, 1, 1, 1])
})

test('Retry-After follows the number of rejections per second', () => {
  const table: readonly (readonly [second: number, rejected: number, expected: number])[] = [
    [0, 5, 1],
    [1, 11, 2],
    // Many rejections in a row do not raise it immediately.
    [2, 1, 2],
    [3, 11, 4],
    [4, 1, 4],
    [7, 1, 8],
    [11, 1, 8],
    [15, 1, 7],
    [17, 1, 6],
    [21, 14, 5],
    [22, 1, 10],
  ]
  const retry = new RetryAfter()
  const start = 1_000_000
  for (const [second, rejected, expected] of table) {
    refuse(retry, start + second, rejected)
    assert.equal(retry.seconds, expected, `second ${second}`)
  }
})
