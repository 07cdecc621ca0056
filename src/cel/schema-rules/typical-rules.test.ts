import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { type SchemaSource, structuralSchema } from '../../machinery/structural-schema/index.ts'
import { definitionFaults, SchemaRules } from './index.ts'

const text: SchemaSource = { type: 'string' }
const whole: SchemaSource = { type: 'integer' }
const moment: SchemaSource = { type: 'string', format: 'date-time' }
const record = (properties: Record<string, SchemaSource>, more: SchemaSource = {}): SchemaSource => ({ type: 'object', properties, ...more })

/** What a rule says of a value: nothing, if it holds. */
function said(schema: SchemaSource, rule: string, value: unknown): string {
  const source = { ...schema, 'x-kubernetes-validations': [{ rule }] }
  const faults = definitionFaults(source, 'schema', { faulty: new Set() })
  const found = faults.length > 0 ? faults : new SchemaRules(structuralSchema(source), false).faults(value)
  return found.map(({ message }) => message).join('\n')
}

/** A schema, a value, and rules that hold. */
const holding: readonly (readonly [string, SchemaSource, unknown, readonly string[]])[] = [
  [
    'moments keep the zone in which they were written, but their parts are those in UTC',
    moment,
    '2024-05-06T07:08:09.5+02:00',
    [
      'self.getHours() == 5',
      "self.getHours('+02:00') == 7",
      "string(self) == '2024-05-06T07:08:09.5+02:00'",
      "string(self - duration('8h')) == '2024-05-05T23:08:09.5+02:00'",
      "self == timestamp('2024-05-06T05:08:09.5Z')",
      "string(timestamp('2024-05-06T00:00:00-00:00')) == '2024-05-06T00:00:00Z'",
      "string(timestamp('2024-05-06T00:00:00-03:30')) == '2024-05-06T00:00:00-03:30'",
    ],
  ],
  [
    'what stands in for a missing value is looked at only if it is missing',
    record({ here: text, gone: text, also: text }),
    { here: 'x' },
    [
      "self.?here.orValue(self.gone) == 'x'",
      'self.?here.or(optional.of(self.gone)).hasValue()',
      "self.?gone.or(self.?also).orValue('y') == 'y'",
      "self.?gone.orValue('y') == 'y'",
    ],
  ],
  [
    'lists of an unknown type are taken by their first element',
    whole,
    1,
    ['dyn([1.5, 2.5]).sum() == 4.0', "dyn(['b', 'a']).min() == 'a'", 'dyn([]).sum() == 0', "dyn([duration('1s'), duration('1m')]).sum() == duration('61s')"],
  ],
  [
    'the zero of moments is the first of year 1',
    whole,
    1,
    ["!optional.ofNonZeroValue(timestamp('0001-01-01T00:00:00Z')).hasValue()", "optional.ofNonZeroValue(timestamp('1970-01-01T00:00:00Z')).hasValue()"],
  ],
]

suite('rules as projects write them', () => {
  for (const [name, schema, value, rules] of holding)
    test(name, () => {
      for (const rule of rules) assert.equal(said(schema, rule, value), '', rule)
    })

  test('words of the language are no fields, but their escaped forms are', () => {
    const schema = record({ true: whole, in: whole, namespace: text })
    assert.equal(said(schema, "self.__true__ == 1 && self.__in__ == 2 && self.__namespace__ == 'a'", { true: 1, in: 2, namespace: 'a' }), '')
    assert.match(said(schema, 'self.true == 1', {}), /ERROR: <input>:1:6: Syntax error: mismatched input 'true' expecting IDENTIFIER/)
    assert.match(said(schema, 'self.in == 1', {}), /mismatched input 'in' expecting IDENTIFIER/)
    assert.match(said(schema, "self.namespace == 'a'", {}), /undefined field 'namespace'/)
  })

  test('rules with too many operators are refused without a place', () => {
    const chain = (length: number) => Array(length).fill('self').join(' == ')
    assert.equal(said({ type: 'boolean' }, chain(250), true), '')
    assert.match(said({ type: 'boolean' }, chain(251), true), /compilation failed: ERROR: <input>:-1:0: max recursion depth exceeded$/)
  })
})
