import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  addQuantities,
  canonicalQuantity,
  compareQuantities,
  isQuantity,
  milliQuantity,
  milliValue,
  parseQuantity,
  wholeValue,
} from './quantity.ts'

const canonical: readonly (readonly [string | number, string])[] = [
  ['0', '0'],
  ['1', '1'],
  [1, '1'],
  ['0.5', '500m'],
  ['1000m', '1'],
  ['1500m', '1500m'],
  ['1.5Gi', '1536Mi'],
  ['1024Ki', '1Mi'],
  ['1024', '1024'],
  ['512Ki', '512Ki'],
  ['0.5Gi', '512Mi'],
  ['1000Ki', '1000Ki'],
  ['1e6', '1e6'],
  ['1E3', '1e3'],
  ['10e5', '1e6'],
  ['1E', '1E'],
  ['1000k', '1M'],
  ['1u', '1u'],
  ['0.1u', '100n'],
  ['0.0000000001', '1n'],
  ['-1', '-1'],
  ['-1Gi', '-1Gi'],
  ['+5', '5'],
  ['100G', '100G'],
  ['4000m', '4'],
  ['0.5Ki', '512'],
  ['.5', '500m'],
  ['1.', '1'],
  ['12e-1', '1200e-3'],
  ['99999999999999999999', '9223372036854775807'],
  ['0Ki', '0'],
  ['1500Mi', '1500Mi'],
  ['0.2Ki', '204800m'],
]

test('a quantity is written with the largest suffix that is exact', () => {
  for (const [given, expected] of canonical) assert.equal(canonicalQuantity(given), expected, String(given))
})

test("an invalid quantity fails with upstream's message", () => {
  assert.throws(() => parseQuantity('much'), {
    message: "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'",
  })
  assert.throws(() => parseQuantity('1mm'), { message: "unable to parse quantity's suffix" })
  assert.throws(() => parseQuantity('m'), { message: 'unable to parse numeric part of quantity' })
  assert.deepEqual(['', '1 ', '1Kii', 'lots', '--1'].filter(isQuantity), [])
})

test('quantities are compared and added by amount, not by text', () => {
  assert.equal(compareQuantities('1', '1000m'), 0)
  assert.ok(compareQuantities('1Gi', '1G') > 0)
  assert.ok(compareQuantities('-1', '0') < 0)
  assert.equal(addQuantities('500m', '1'), '1500m')
  assert.equal(addQuantities('0', '512Mi'), '512Mi')
  assert.equal(addQuantities('512Mi', '512Mi'), '1Gi')
})

test('quantities of resource lists are rounded up to thousandths', () => {
  assert.deepEqual(['1u', '1n', '1001u', '1', '1e6', '-1u'].map(milliQuantity), ['1m', '1m', '2m', '1', '1e6', '-1m'])
  assert.equal(wholeValue('1500m'), 2n)
  assert.equal(milliValue('1u'), 1n)
})

test('texts of any length are parsed in one pass and rounded up', () => {
  const many = 1_000_000
  assert.throws(() => canonicalQuantity(`${'1'.repeat(many)}!`), /must match/)
  assert.equal(canonicalQuantity('9'.repeat(many)), '9223372036854775807')
  assert.equal(canonicalQuantity(`${'0'.repeat(many)}5`), '5')
  assert.equal(canonicalQuantity(`1.${'0'.repeat(many)}`), '1')
  assert.equal(canonicalQuantity(`1.${'0'.repeat(many)}1`), '1000000001n')
  assert.equal(canonicalQuantity(`${'1'.repeat(100)}e-95`), '11111111111112e-9')
})
