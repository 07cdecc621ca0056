import assert from 'node:assert/strict'
import { test } from 'node:test'
import { scaleProportionally, scaleReversed } from './normalize.ts'

test('counts are scaled to scores from 0 to 100', () => {
  const cases: [number[], number[], number[]][] = [
    [[], [], []],
    [
      [0, 0],
      [0, 0],
      [100, 100],
    ],
    [
      [1, 2, 4],
      [25, 50, 100],
      [75, 50, 0],
    ],
    [
      [1, 3],
      [33, 100],
      [67, 0],
    ],
  ]
  for (const [scores, straight, reverse] of cases) {
    const [a, b] = [[...scores], [...scores]]
    scaleProportionally(a)
    scaleReversed(b)
    assert.deepEqual([a, b], [straight, reverse])
  }
})
