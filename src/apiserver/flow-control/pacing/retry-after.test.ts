import assert from 'node:assert/strict'
import { test } from 'node:test'
import { RetryAfter } from './retry-after.ts'

const refuse = (retry: RetryAfter, second: number, times: number): void => {
  for (let i = 0; i < times; i++) retry.refused(second)
}

test('clients are told to come later and later while much is refused, half a minute at most', () => {
  const retry = new RetryAfter()
  const told: number[] = []
  for (let second = 100; second < 200; second++) {
    refuse(retry, second, 100)
    told.push(retry.seconds)
  }
  assert.deepEqual([...new Set(told)], [1, 2, 4, 8, 16, 32])
})

test('a few refusals change nothing, and when they become few it goes back second by second', () => {
  const retry = new RetryAfter()
  refuse(retry, 1000, 2)
  refuse(retry, 1001, 1)
  assert.equal(retry.seconds, 1)
  refuse(retry, 1002, 50)
  refuse(retry, 1003, 50)
  refuse(retry, 1004, 1)
  assert.equal(retry.seconds, 2)
  const told: number[] = []
  for (let second = 1100; second < 1104; second++) {
    refuse(retry, second * 10, 1)
    told.push(retry.seconds)
  }
  assert.deepEqual(told, [1, 1, 1, 1])
})

test('what is told follows the refusals, second by second', () => {
  const table: readonly (readonly [second: number, refused: number, told: number])[] = [
    [0, 5, 1],
    [1, 11, 2],
    // Many refusals in a row do not raise it at once.
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
  for (const [second, refused, told] of table) {
    refuse(retry, start + second, refused)
    assert.equal(retry.seconds, told, `second ${second}`)
  }
})
