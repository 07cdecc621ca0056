import assert from 'node:assert/strict'
import { test } from 'node:test'
import { countOf } from './percent.ts'

test('countOf resolves numbers and percentages, rounded up or down', () => {
  const cases: [number | string | undefined, number, 'up' | 'down', number | undefined][] = [
    [3, 10, 'up', 3],
    [0, 10, 'up', 0],
    ['25%', 10, 'up', 3],
    ['25%', 10, 'down', 2],
    ['7%', 100, 'up', 7],
    ['100%', 4, 'down', 4],
    ['0%', 4, 'up', 0],
    ['many', 4, 'up', undefined],
    [undefined, 4, 'up', undefined],
  ]
  for (const [value, total, round, expected] of cases)
    assert.equal(countOf(value, total, round), expected, `${value} of ${total}, ${round}`)
})
