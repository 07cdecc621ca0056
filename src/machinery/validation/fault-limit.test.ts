import assert from 'node:assert/strict'
import { test } from 'node:test'
import { limitFaults, maxFaults } from './fault-limit.ts'
import { type FieldError, invalidValue, required } from './field-error.ts'
import { all, each } from './field-rules.ts'

test('errors below the limit are returned unchanged', () => {
  const faults = limitFaults(() => all([required('a')], [invalidValue('b', 'x'.repeat(1_000_000))]))
  assert.deepEqual(
    faults.map(({ field }) => field),
    ['a', 'b'],
  )
})

test('validation stops at too many errors, and the last error names the limit', () => {
  let validated = 0
  const faults = limitFaults(() =>
    each(Array(1_000_000).fill(0), 'list', (_, path) => {
      validated++
      return [required(path)]
    }),
  )
  assert.equal(validated, maxFaults + 1)
  assert.deepEqual(faults.slice(maxFaults - 1), [
    { reason: 'FieldValueRequired', field: `list[${maxFaults - 1}]`, message: 'Required value' },
    {
      reason: 'FieldValueTooMany',
      field: '<nil>',
      message: `Too many: ${maxFaults} errors: correct them to have the rest of the object checked`,
    },
  ])
})

test('errors that show large values are limited by their length', () => {
  const large = 'x'.repeat(200_000)
  const faults = limitFaults(() => each(Array(1000).fill(large), 'list', (value, path) => [invalidValue(path, value)]))
  assert.deepEqual(
    faults.map(({ field }) => field),
    ['list[0]', 'list[1]', '<nil>'],
  )
})

test('rules outside of limitFaults are not limited, even after a limit was reached', () => {
  const rules = (): readonly FieldError[] => each(Array(maxFaults + 5).fill(0), 'list', (_, path) => [required(path)])
  assert.equal(rules().length, maxFaults + 5)
  limitFaults(rules)
  assert.equal(rules().length, maxFaults + 5)
})
