import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type FieldError, required } from './field-error.ts'
import {
  all,
  each,
  follows,
  immutable,
  intOrPercent,
  nonNegative,
  oneOf,
  optionalText,
  portOrName,
  positive,
  requiredRule,
  valid,
} from './field-rules.ts'
import { dnsLabel } from './names.ts'

const messages = (errors: readonly FieldError[]): string[] =>
  errors.map(({ field, message }) => `${field}: ${message.replace(/ \(e\.g\. .*/, '')}`)

test('absent values are valid, unless they are required', () => {
  const errors = [
    ...nonNegative(undefined, 'a'),
    ...positive(undefined, 'a'),
    ...oneOf(undefined, 'a', ['x']),
    ...follows(undefined, 'a', dnsLabel),
    ...optionalText('', 'a', dnsLabel),
    ...intOrPercent(undefined, 'a'),
  ]
  assert.deepEqual(errors, [])
  assert.deepEqual(messages([...oneOf('', 'a', ['x'], 'needed'), ...requiredRule('', 'b', dnsLabel)]), [
    'a: Required value',
    'b: Required value',
  ])
})

test('an error names the path, the value and the reason', () => {
  const cases: readonly (readonly [readonly FieldError[], string])[] = [
    [nonNegative(-1, 'a'), 'a: Invalid value: -1: must be greater than or equal to 0'],
    [positive(0, 'a'), 'a: Invalid value: 0: must be greater than 0'],
    // A pointer to an empty string is not absent.
    [oneOf('', 'a', ['x', 'y']), 'a: Unsupported value: "": supported values: "x", "y"'],
    [follows('a.b', 'a', dnsLabel), 'a: Invalid value: "a.b": must not contain dots'],
    [immutable('new', 'a', 'old'), 'a: Invalid value: "new": field is immutable'],
    [intOrPercent('5', 'a'), `a: Invalid value: "5": must be an integer or percentage (e.g '5%%')`],
    [portOrName(0, 'a'), 'a: Invalid value: 0: must be between 1 and 65535, inclusive'],
  ]
  for (const [errors, expected] of cases) assert.deepEqual(messages(errors), [expected])
})

test('errors of several rules are joined in their order, and the valid case allocates nothing', () => {
  const [one, two, three] = ['a', 'b', 'c'].map((field) => required(field))
  assert.deepEqual(all([one!], valid, [two!, three!]), [one, two, three])
  assert.equal(all(valid, valid), valid)
  assert.equal(all(), valid)
  const rule = (item: string, path: string) => (item ? valid : [required(path)])
  assert.deepEqual(
    each(['x', '', 'y', ''], 'list', rule).map(({ field }) => field),
    ['list[1]', 'list[3]'],
  )
  assert.equal(each(undefined, 'list', rule), valid)
})
