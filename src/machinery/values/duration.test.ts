import assert from 'node:assert/strict'
import { test } from 'node:test'
import { humanDuration } from './duration.ts'

const s = 1000,
  m = 60 * s,
  h = 60 * m,
  d = 24 * h
const cases: readonly (readonly [number, string])[] = [
  [-3 * s, '<invalid>'],
  [-1500, '0s'],
  [0, '0s'],
  [1 * s, '1s'],
  [119 * s, '119s'],
  [2 * m, '2m'],
  [2 * m + 30 * s, '2m30s'],
  [9 * m + 59 * s, '9m59s'],
  [10 * m, '10m'],
  [10 * m + 5 * s, '10m'],
  [3 * h, '3h'],
  [3 * h + 25 * m, '3h25m'],
  [8 * h - s, '7h59m'],
  [26 * h, '26h'],
  [48 * h, '2d'],
  [2 * d + h, '2d1h'],
  [8 * d - s, '7d23h'],
  [8 * d, '8d'],
  [100 * d, '100d'],
  [2 * 365 * d + 35 * d, '2y35d'],
  [9 * 365 * d, '9y'],
]

test('durations are printed with about two digits of precision', () => {
  for (const [ms, expected] of cases) assert.equal(humanDuration(ms), expected)
})
