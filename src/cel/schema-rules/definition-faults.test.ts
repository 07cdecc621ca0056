import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { type SchemaSource, structuralFaults, type ValidationRule } from '../../machinery/structural-schema/index.ts'
import { definitionFaults } from './index.ts'

const rules = (...list: (string | ValidationRule)[]): SchemaSource => ({
  'x-kubernetes-validations': list.map((rule) => (typeof rule === 'string' ? { rule } : rule)),
})
const object = (properties: Record<string, SchemaSource>, more: SchemaSource = {}): SchemaSource => ({
  type: 'object',
  properties,
  ...more,
})

/** Returns the errors of a schema for the field `x` of a resource, with paths below the field. */
function faultsOf(schema: SchemaSource, unchanged = false): string[] {
  const found = structuralFaults(object({ x: schema }), 's', {
    ruleFaults: (source, path, faulty) => definitionFaults(source, path, { faulty, unchanged }),
  })
  return found.map(({ reason, field, message }) => `${reason} ${field.replace('s.properties[x]', '')}: ${message}`)
}

const shown = (rule: string, more = ''): string =>
  'Invalid value: ' +
  `{"Rule":${JSON.stringify(rule).replaceAll('>', '\\u003e')},"Message":"","MessageExpression":"${more}",` +
  '"Reason":null,"FieldPath":"","OptionalOldSelf":null}'
const remedy =
  '(try simplifying the rule, or adding maxItems, maxProperties, and maxLength where arrays, maps, and strings ' +
  'are declared)'

describe('rules of a definition', () => {
  it('compile, or the error has the position', () => {
    assert.deepEqual(
      faultsOf({ type: 'integer', ...rules('self ==') })[0]
        ?.split('\n')[0]
        ?.startsWith(
          `FieldValueInvalid .x-kubernetes-validations[0].rule: ${shown('self ==')}: compilation failed: ERROR: ` +
            '<input>:1:8: Syntax error: ',
        ),
      true,
    )
    assert.deepEqual(faultsOf({ type: 'integer', ...rules('self == true') }), [
      `FieldValueInvalid .x-kubernetes-validations[0].rule: ${shown('self == true')}: compilation failed: ERROR: ` +
        "<input>:1:6: found no matching overload for '_==_' applied to '(int, bool)'\n | self == true\n | .....^",
    ])
    assert.deepEqual(faultsOf(object({ a: { type: 'string' } }, rules('self.b == "x"'))), [
      `FieldValueInvalid .x-kubernetes-validations[0].rule: ${shown('self.b == "x"')}: compilation failed: ` +
        'ERROR: <input>:1:5: undefined field \'b\'\n | self.b == "x"\n | ....^',
    ])
  })

  it('must evaluate to a bool, and message expressions to a string', () => {
    assert.deepEqual(faultsOf({ type: 'integer', ...rules('self + 1') }), [
      `FieldValueInvalid .x-kubernetes-validations[0].rule: ${shown('self + 1')}: cel expression must evaluate ` +
        'to a bool',
    ])
    assert.deepEqual(faultsOf({ type: 'integer', ...rules({ rule: 'self > 1', messageExpression: 'self' }) }), [
      `FieldValueInvalid .x-kubernetes-validations[0].messageExpression: ${shown('self > 1', 'self')}: ` +
        'messageExpression must evaluate to a string',
    ])
  })

  it('access fields by their escaped names', () => {
    const schema = object({
      'a-b': { type: 'string' },
      'c.d': { type: 'string' },
      for: { type: 'string' },
      '9': { type: 'string' },
    })
    assert.deepEqual(faultsOf({ ...schema, ...rules('self.a__dash__b == self.c__dot__d && self.__for__ == ""') }), [])
    assert.equal(faultsOf({ ...schema, ...rules('self.a__dash__c == ""') }).length, 1)
  })

  it('cannot access fields that are preserved but not declared', () => {
    const free: SchemaSource = { 'x-kubernetes-preserve-unknown-fields': true }
    assert.equal(
      faultsOf(object({ a: free, l: { type: 'array', items: free } }, rules('has(self.a)', 'has(self.l)'))).length,
      2,
    )
    assert.deepEqual(faultsOf({ ...free, ...rules('true') }), [
      'InternalError .x-kubernetes-validations: Internal error: internal error: failed to construct type ' +
        'information for x-kubernetes-validations rules: unable to convert structural schema to CEL declarations',
    ])
  })

  it('can access names, kind and apiVersion of resources, also of embedded ones', () => {
    const embedded = object({ spec: { type: 'string' } }, { 'x-kubernetes-embedded-resource': true })
    assert.deepEqual(
      faultsOf({
        ...embedded,
        ...rules('self.metadata.name == self.kind && self.apiVersion == self.metadata.generateName'),
      }),
      [],
    )
    assert.equal(faultsOf({ ...embedded, ...rules('self.metadata.labels.size() == 0') }).length, 1)
  })

  it('use the types of string formats', () => {
    const of = (format: string, rule: string) => faultsOf({ type: 'string', format, ...rules(rule) })
    assert.deepEqual(of('byte', "self == b'x'"), [])
    assert.deepEqual(of('date', 'self.getFullYear() > 2000'), [])
    assert.deepEqual(of('date-time', "self < timestamp('2030-01-01T00:00:00Z')"), [])
    assert.deepEqual(of('duration', "self < duration('1h')"), [])
    assert.deepEqual(of('uuid', 'self.size() > 1'), [])
    assert.equal(of('duration', "self == '1h'").length, 1)
  })

  it('are not compiled if the schema or one below is invalid', () => {
    assert.deepEqual(
      faultsOf(
        object(
          { a: { type: 'array', items: { type: 'string' }, 'x-kubernetes-list-type': 'wrong' } },
          rules('self.nothing'),
        ),
      ),
      [
        'FieldValueNotSupported .properties[a].x-kubernetes-list-type: Unsupported value: "wrong": supported ' +
          'values: "atomic", "set", "map"',
      ],
    )
  })

  it('may use oldSelf only where old and new values can be correlated', () => {
    const transition = { type: 'string', maxLength: 9, ...rules('self == oldSelf') }
    assert.deepEqual(faultsOf(object({ a: transition })), [])
    assert.deepEqual(faultsOf({ type: 'object', maxProperties: 9, additionalProperties: transition }), [])
    assert.deepEqual(
      faultsOf({
        type: 'array',
        items: object({ inner: { type: 'array', maxItems: 2, items: transition } }),
        maxItems: 2,
      }),
      [
        'FieldValueInvalid .items.properties[inner].items.x-kubernetes-validations[0].rule: Invalid value: "self ' +
          '== oldSelf": oldSelf cannot be used on the uncorrelatable portion of the schema within s.properties[x]',
      ],
    )
    const keyed = { type: 'array', maxItems: 5, 'x-kubernetes-list-type': 'map', 'x-kubernetes-list-map-keys': ['k'] }
    assert.deepEqual(
      faultsOf({
        ...keyed,
        items: object({ k: { type: 'string', maxLength: 9 }, v: transition }, { required: ['k'] }),
      }),
      [],
    )
  })

  it('must use oldSelf if they set optionalOldSelf', () => {
    assert.deepEqual(
      faultsOf({ type: 'string', ...rules({ rule: 'oldSelf.orValue("") == self', optionalOldSelf: true }) }),
      [],
    )
    assert.deepEqual(faultsOf({ type: 'string', ...rules({ rule: 'self != ""', optionalOldSelf: true }) }), [
      'FieldValueInvalid .x-kubernetes-validations[0].optionalOldSelf: Invalid value: true: may not be set if ' +
        'oldSelf is not used in rule',
    ])
  })
})

describe('the estimated cost of rules of a definition', () => {
  const costly = { type: 'array', items: { type: 'integer' }, ...rules('self.all(a, self.all(b, a != b))') }

  it('is limited per rule and in total, and the most expensive rules are named', () => {
    assert.deepEqual(faultsOf(costly), [
      'FieldValueForbidden .x-kubernetes-validations[0].rule: Forbidden: estimated rule cost exceeds budget by ' +
        `factor of more than 100x ${remedy}`,
      'FieldValueForbidden .x-kubernetes-validations[0].rule: Forbidden: contributed to estimated rule cost ' +
        'total exceeding cost limit for entire OpenAPIv3 schema',
      'FieldValueForbidden s: Forbidden: x-kubernetes-validations estimated rule cost total for entire OpenAPIv3 ' +
        `schema exceeds budget by factor of more than 100x ${remedy}`,
    ])
    assert.deepEqual(faultsOf({ ...costly, maxItems: 100 }), [])
  })

  it('is reported exactly if it slightly exceeds the limit', () => {
    const factors = (maxItems: number) =>
      faultsOf({ ...costly, maxItems }).map((fault) => /by factor of (\S+)/.exec(fault)?.[1])
    assert.deepEqual(factors(1600), ['1.280800x'])
    assert.deepEqual(factors(3000), ['4.5x'])
  })

  it('grows with the possible number of values', () => {
    const item = { type: 'string', ...rules("self.contains('x')") }
    assert.equal(faultsOf({ type: 'array', items: { ...item, maxLength: 1000 } }).length, 3)
    assert.deepEqual(faultsOf({ type: 'array', maxItems: 10, items: { ...item, maxLength: 1000 } }), [])
    assert.deepEqual(
      faultsOf({ type: 'object', maxProperties: 10, additionalProperties: { ...item, maxLength: 1000 } }),
      [],
    )
  })

  it('is not limited per rule for an unchanged schema', () => {
    assert.deepEqual(faultsOf({ ...costly, maxItems: 1600 }, true), [])
  })
})
