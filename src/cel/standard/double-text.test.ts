import assert from 'node:assert/strict'
import { test } from 'node:test'
import { formatDouble } from './double-text.ts'

test('doubles are formatted in their shortest form', () => {
  const cases: readonly (readonly [number, string])[] = [
    [0, '0'],
    [-0, '-0'],
    [1, '1'],
    [2.71, '2.71'],
    [2e-9, '2e-09'],
    [0.0001, '0.0001'],
    [0.00001, '1e-05'],
    [123456, '123456'],
    [123456789, '1.23456789e+08'],
    [1e20, '1e+20'],
    [1e21, '1e+21'],
    [1.5e300, '1.5e+300'],
    [Number.POSITIVE_INFINITY, '+Inf'],
    [Number.NEGATIVE_INFINITY, '-Inf'],
    [Number.NaN, 'NaN'],
  ]
  for (const [value, text] of cases) assert.equal(formatDouble(value), text)
})
