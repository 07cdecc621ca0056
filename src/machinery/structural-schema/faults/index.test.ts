import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { nonStructuralFaults, type SchemaChecks, type SchemaSource, structuralFaults } from '../index.ts'

const string: SchemaSource = { type: 'string' }
const path = 'spec.validation.openAPIV3Schema'

function messages(source: SchemaSource, checks?: SchemaChecks): string[] {
  return structuralFaults(source, path, checks).map(({ field, message }) => `${field.replace(path, '')}: ${message}`)
}

/** Returns the messages for the schema of the field `f`. */
const field = (f: SchemaSource, checks?: SchemaChecks): string[] =>
  messages({ type: 'object', properties: { f } }, checks).map((text) => text.replace('.properties[f]', 'f'))

describe('a structural schema', () => {
  const cases: readonly (readonly [schema: SchemaSource, ...expected: string[]])[] = [
    [{}, 'f.type: Required value: must not be empty for specified object fields'],
    [{ type: 'array' }, 'f.items: Required value: must be specified'],
    [{ type: 'array', items: {} }, 'f.items.type: Required value: must not be empty for specified array items'],
    [{ ...string, anyOf: [{ format: 'date' }] }],
    [
      { ...string, anyOf: [{ type: 'string', nullable: true, default: 'x', 'x-kubernetes-list-type': 'set' }] },
      'f.anyOf[0].default: Forbidden: must be undefined to be structural',
      'f.anyOf[0].nullable: Forbidden: must be false to be structural',
      'f.anyOf[0].type: Forbidden: must be empty to be structural',
      'f.anyOf[0].x-kubernetes-list-type: Forbidden: must be undefined to be structural',
      'f.anyOf[0].type: Invalid value: "string": must be array if x-kubernetes-list-type is specified',
    ],
    [
      {
        'x-kubernetes-int-or-string': true,
        allOf: [{ anyOf: [{ type: 'integer' }, { type: 'string' }] }, { pattern: '^a' }],
      },
    ],
    [
      { type: 'object', 'x-kubernetes-embedded-resource': true, additionalProperties: string },
      'f.additionalProperties: Forbidden: must not be used if x-kubernetes-embedded-resource is set',
      'f.properties: Required value: must not be empty if x-kubernetes-embedded-resource is true without ' +
        'x-kubernetes-preserve-unknown-fields',
    ],
    [
      { ...string, pattern: '(' },
      'f.pattern: Invalid value: "(": must be a valid regular expression, but isn\'t: error parsing regexp: ' +
        'missing closing ): `(`',
    ],
    [
      { type: 'null' },
      'f.type: Unsupported value: "null": supported values: "array", "boolean", "integer", "number", "object", ' +
        '"string"',
      'f.type: Forbidden: type cannot be set to null, use nullable as an alternative',
    ],
    [
      { type: 'object', 'x-kubernetes-preserve-unknown-fields': false },
      'f.x-kubernetes-preserve-unknown-fields: Invalid value: false: must be true or undefined',
    ],
    [{ type: 'array', items: [string] }, 'f.items: Forbidden: items must be a schema object and not an array'],
    [{ ...string, definitions: { x: string } }, 'f.definitions: Forbidden: definitions is not supported'],
    [
      { type: 'array', items: string, 'x-kubernetes-list-map-keys': ['k'] },
      'f.x-kubernetes-list-type: Required value: must be map if x-kubernetes-list-map-keys is non-empty',
    ],
    [
      { type: 'array', 'x-kubernetes-list-type': 'set', items: { ...string, nullable: true } },
      'f.items.nullable: Forbidden: cannot be nullable when x-kubernetes-list-type is set',
    ],
    [
      {
        type: 'array',
        'x-kubernetes-list-type': 'map',
        'x-kubernetes-list-map-keys': ['k', 'k'],
        items: { type: 'object', required: ['k'], properties: { k: { ...string, nullable: true } } },
      },
      'f.x-kubernetes-list-map-keys: Invalid value: ["k","k"]: must not contain duplicate entries',
      'f.items.properties[k].nullable: Forbidden: this property is in x-kubernetes-list-map-keys, so it cannot ' +
        'be nullable',
      'f.items.properties[k].nullable: Forbidden: this property is in x-kubernetes-list-map-keys, so it cannot ' +
        'be nullable',
    ],
    [
      { ...string, 'x-kubernetes-validations': [{ rule: ' ' }] },
      'f.x-kubernetes-validations[0].rule: Required value: rule is not specified',
    ],
    [
      { ...string, 'x-kubernetes-validations': [{ rule: 'a\nb', reason: 'Because', fieldPath: '.x' }] },
      'f.x-kubernetes-validations[0].message: Required value: message must be specified if rule contains line breaks',
      'f.x-kubernetes-validations[0].reason: Unsupported value: "Because": supported values: ' +
        '"FieldValueDuplicate", "FieldValueForbidden", "FieldValueInvalid", "FieldValueRequired"',
      'f.x-kubernetes-validations[0].fieldPath: Invalid value: ".x": must be a valid path',
    ],
  ]
  for (const [schema, ...expected] of cases)
    test(`${JSON.stringify(schema)}`, () => assert.deepEqual(field(schema), expected))

  test('is an object at the root, without additionalProperties', () => {
    assert.deepEqual(messages({ type: 'array', items: string }), [
      '.type: Invalid value: "array": must be object at the root',
    ])
    assert.deepEqual(messages({ type: 'object', nullable: true, additionalProperties: string }), [
      '.nullable: Forbidden: nullable cannot be true at the root',
      '.additionalProperties: Forbidden: must not be used at the root',
    ])
  })

  test('has its structural errors sorted by text, as in the condition NonStructuralSchema', () => {
    const at = 'spec.versions[0].schema.openAPIV3Schema'
    const faults = nonStructuralFaults({ properties: { b: {}, a: {} }, uniqueItems: true }, at)
    assert.deepEqual(
      faults.map(({ field }) => field),
      [`${at}.properties[a].type`, `${at}.properties[b].type`, `${at}.type`],
    )
  })

  test('may restrict only names in metadata', () => {
    const metadata = (properties: Record<string, SchemaSource>): SchemaSource => ({
      type: 'object',
      properties: { metadata: { type: 'object', properties } },
    })
    assert.deepEqual(messages(metadata({ name: { ...string, maxLength: 9 } })), [])
    assert.equal(messages(metadata({ labels: { type: 'object' } })).length, 1)
  })

  test('specifies every field of anyOf outside of it, too', () => {
    assert.deepEqual(messages({ type: 'object', anyOf: [{ properties: { a: { minLength: 1 } } }] }), [
      `.properties[a]: Required value: because it is defined in ${path}.anyOf[0].properties[a]`,
    ])
  })

  test('may use only some keywords at the root if there is a status subresource', () => {
    assert.match(
      messages(
        { type: 'object', anyOf: [{ required: ['spec'] }], properties: { spec: { type: 'object' } } },
        { status: true },
      )[0] ?? '',
      /only \[Description Type .* XValidations] fields are allowed/,
    )
  })
})

describe('defaults', () => {
  test('are valid', () => {
    assert.deepEqual(field({ type: 'integer', default: 'one' }), [
      'f.default: Invalid value: "string":  in body must be of type integer: "string"',
    ])
    assert.deepEqual(field({ type: 'object', required: ['n'], properties: { n: string }, default: {} }), [
      'f.default.n: Required value',
    ])
  })

  test('must not have fields that would be pruned, unless the old definition had such defaults', () => {
    const source: SchemaSource = { type: 'object', properties: { n: string }, default: { m: 1 } }
    assert.deepEqual(field(source), ['f.default: Invalid value: {"m":1}: must not have unknown fields'])
    assert.deepEqual(field(source, { old: [{ type: 'object', properties: { f: source } }] }), [])
  })

  test('are forbidden in top-level metadata', () => {
    assert.deepEqual(
      messages({
        type: 'object',
        properties: { metadata: { type: 'object', properties: { name: { ...string, default: 'a' } } } },
      }),
      ['.properties[metadata].properties[name].default: Forbidden: must not be set in top-level metadata'],
    )
  })

  test('in the metadata of embedded resources must result in valid metadata', () => {
    const embedded = (initial: string): SchemaSource => ({
      type: 'object',
      'x-kubernetes-embedded-resource': true,
      properties: { metadata: { type: 'object', properties: { name: { ...string, default: initial } } } },
    })
    assert.deepEqual(field(embedded('a')), [])
    assert.match(
      field(embedded('a/b'))[0] ?? '',
      /must result in valid metadata: metadata.name: Invalid value: "a\/b": may not contain '\/'/,
    )
  })
})

test('rules are validated for valid schemas only, with the set of faulty ones', () => {
  const bad: SchemaSource = { ...string, 'x-kubernetes-map-type': 'atomic' }
  const source: SchemaSource = { type: 'object', properties: { bad, good: string } }
  let faulty: ReadonlySet<SchemaSource> = new Set()
  const ruleFaults: SchemaChecks['ruleFaults'] = (_source, _path, found) => {
    faulty = found
    return []
  }
  structuralFaults(source, path, { ruleFaults })
  assert.deepEqual([...faulty], [bad, source])
  structuralFaults({ properties: {} }, path, { ruleFaults: () => assert.fail('the schema is not structural') })
})
