import assert from 'node:assert/strict'
import { test } from 'node:test'
import { fixedText, plainFixedText, scientificText } from './number-text.ts'

test('doubles are formatted with a fixed number of digits', () => {
  const cases: readonly (readonly [number, number, string])[] = [
    [3.14, 6, '3.140000'],
    [1.2345, 3, '1.234'],
    [2.5, 0, '2'],
    [3.5, 0, '4'],
    [0.125, 2, '0.12'],
    [1.005, 2, '1.00'],
    [1234567.891, 2, '1,234,567.89'],
    [999.999, 2, '1,000.00'],
    [-0.5, 1, '-0.5'],
    [0, 2, '0.00'],
    [1e21, 0, '1,000,000,000,000,000,000,000'],
    [5e-324, 3, '0.000'],
    [Number.POSITIVE_INFINITY, 2, '∞'],
    [Number.NEGATIVE_INFINITY, 2, '-∞'],
    [Number.NaN, 2, 'NaN'],
  ]
  for (const [value, precision, text] of cases) assert.equal(fixedText(value, precision), text)
  assert.equal(plainFixedText(1234567.5, 6), '1234567.500000')
  assert.equal(plainFixedText(Number.POSITIVE_INFINITY, 6), '+Inf')
  assert.equal(fixedText(0.1, 60).length, 62)
  assert.equal(fixedText(1, 5000).length, 5002)
})

test('doubles are formatted in scientific notation', () => {
  const cases: readonly (readonly [number, number, string])[] = [
    [2.71929, 6, '2.719290\u202f×\u202f10⁰⁰'],
    [1052.032911275, 6, '1.052033\u202f×\u202f10⁰³'],
    [9.999, 2, '1.00\u202f×\u202f10⁰¹'],
    [0.00012, 1, '1.2\u202f×\u202f10⁻⁰⁴'],
    [-1e300, 0, '-1\u202f×\u202f10³⁰⁰'],
    [0, 2, '0.00\u202f×\u202f10⁰⁰'],
    [5e-324, 2, '4.94\u202f×\u202f10⁻³²⁴'],
  ]
  for (const [value, precision, text] of cases) assert.equal(scientificText(value, precision), text)
})
