import assert from 'node:assert/strict'
import { test } from 'node:test'
import { OpaqueValue, type Value } from '../values.ts'
import { call, faultOf } from './call.fixture.ts'

const quantity = (text: string): Value => call('string_to_quantity', text)
const same = (a: Value, b: Value): boolean => a instanceof OpaqueValue && b instanceof OpaqueValue && a.equals(b)

test('quantities are compared by amount', () => {
  assert.ok(same(quantity('200M'), quantity('0.2G')))
  assert.equal(call('quantity_compare_to', quantity('200M'), quantity('0.2G')), 0n)
  assert.equal(call('quantity_compare_to', quantity('50M'), quantity('50Mi')), -1n)
  assert.equal(call('quantity_is_less_than', quantity('50E'), quantity('100E')), true)
  assert.equal(call('quantity_is_less_than', quantity('-0.5'), quantity('-.25')), true)
  assert.equal(call('quantity_is_greater_than', quantity('150Mi'), quantity('100Mi')), true)
  assert.equal(call('quantity_is_less_than', quantity('100M'), quantity('50M')), false)
  assert.deepEqual(
    ['-1', '0', '1m'].map((text) => call('quantity_sign', quantity(text))),
    [-1n, 0n, 1n],
  )
})

test('isQuantity checks the number and the suffix', () => {
  for (const text of ['1.3G', '1.3Gi', '10000k', '20']) assert.equal(call('is_quantity_string', text), true, text)
  for (const text of ['1,3G', '200K', 'Three', 'Mi', '']) assert.equal(call('is_quantity_string', text), false, text)
  assert.equal(
    faultOf(() => quantity('10K')),
    "unable to parse quantity's suffix",
  )
})

test('quantities and integers are added and subtracted', () => {
  assert.ok(same(call('quantity_add', quantity('50k'), quantity('20')), quantity('50.02k')))
  assert.ok(same(call('quantity_sub_int', quantity('50k'), 20n), quantity('49980')))
  const chained = call(
    'quantity_sub_int',
    call('quantity_sub', call('quantity_add_int', quantity('50k'), 20n), quantity('100k')),
    -50000n,
  )
  assert.equal(call('quantity_get_int', chained), 20n)
})

test('isInteger is true for quantities that upstream stores as integers', () => {
  const whole: readonly (readonly [string, boolean])[] = [
    ['50', true],
    ['50k', true],
    ['50.703k', true],
    ['50000000G', true],
    ['4Gi', true],
    ['1000m', false],
    ['1.0', false],
    ['0.5', false],
    ['1.5Gi', false],
    ['9999999999999999999999999999999999999G', false],
    ['100E', false],
  ]
  for (const [text, expected] of whole) assert.equal(call('quantity_is_integer', quantity(text)), expected, text)
  assert.equal(
    faultOf(() => call('quantity_get_int', quantity('9999999999999999999999999999999999999G'))),
    'cannot convert value to integer',
  )
})

test('asApproximateFloat converts to a double', () => {
  const cases: readonly (readonly [string, number])[] = [
    ['50.703k', 50703],
    ['0.1', 0.1],
    ['100m', 0.1],
    ['1.5Gi', 1610612736],
    ['-3', -3],
    ['1n', 1e-9],
  ]
  for (const [text, expected] of cases) assert.equal(call('quantity_get_float', quantity(text)), expected, text)
})
