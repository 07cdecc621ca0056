import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { writeJson } from '../../../lib/exact-json.ts'
import { type SchemaSource, schemaFaults, structuralSchema, type ValueOptions } from '../index.ts'

const string: SchemaSource = { type: 'string' }
const integer: SchemaSource = { type: 'integer' }

/** Returns the messages for the value of `f`. */
function messages(f: SchemaSource, value: unknown, old?: unknown, options?: ValueOptions): string[] {
  const schema = structuralSchema({ type: 'object', properties: { f } })
  return schemaFaults({ f: value }, schema, old === undefined ? undefined : { f: old }, options).map(
    ({ field, message }) => `${field}: ${message}`,
  )
}

const cases: readonly (readonly [schema: SchemaSource, value: unknown, ...expected: string[]])[] = [
  [{ ...integer, minimum: 1 }, 0, 'f: Invalid value: 0: f in body should be greater than or equal to 1'],
  [
    { type: 'number', minimum: 0, exclusiveMinimum: true },
    0,
    'f: Invalid value: 0: f in body should be greater than 0',
  ],
  [{ ...integer, maximum: 10, exclusiveMaximum: true }, 10, 'f: Invalid value: 10: f in body should be less than 10'],
  [{ type: 'number', multipleOf: 0.1 }, 0.3],
  [{ type: 'number', multipleOf: 0.5 }, 0.7, 'f: Invalid value: 0.7: f in body should be a multiple of 0.5'],
  [{ type: 'number', maximum: 1 }, 1e21, 'f: Invalid value: 1e+21: f in body should be less than or equal to 1'],
  [{ ...string, maxLength: 3 }, 'äöü'],
  [{ ...string, maxLength: 3 }, 'abcd', 'f: Too long: may not be more than 3 bytes'],
  [{ ...string, minLength: 2 }, '😀', 'f: Invalid value: "😀": f in body should be at least 2 chars long'],
  [{ ...string, pattern: '^[a-z]+$' }, 'A', 'f: Invalid value: "A": f in body should match \'^[a-z]+$\''],
  [{ ...string, enum: ['a', 'b'] }, 'c', 'f: Unsupported value: "c": supported values: "a", "b"'],
  [{ ...string, nullable: true, enum: ['a', null] }, null, 'f: Unsupported value: null: supported values: "a", "null"'],
  [{ type: 'object', enum: [{ a: 1 }], 'x-kubernetes-preserve-unknown-fields': true }, { a: 1 }],
  [integer, '5', 'f: Invalid value: "string": f in body must be of type integer: "string"'],
  [
    integer,
    1.5,
    'f: Invalid value: "number": f in body must be of type integer: "number"',
    '<nil>: Invalid value: "": Checked value must be of type integer (default format) in f',
  ],
  [integer, 2n ** 63n - 1n],
  [
    integer,
    2 ** 63,
    'f: Invalid value: "number": f in body must be of type integer: "number"',
    '<nil>: Invalid value: "": Checked value must be of type integer (default format) in f',
  ],
  [{ type: 'number' }, 2n ** 63n - 1n],
  [string, 2n ** 60n, 'f: Invalid value: "integer": f in body must be of type string: "integer"'],
  [
    { ...integer, maximum: 2 ** 53 },
    2n ** 53n + 1n,
    'f: Invalid value: 9007199254740993: f in body should be less than or equal to 9007199254740992',
  ],
  [{ ...integer, maximum: 2 ** 62 }, 2n ** 62n],
  [
    { ...integer, maximum: 2 ** 62 },
    2n ** 62n + 1n,
    'f: Invalid value: 4611686018427387905: f in body should be less than or equal to 4611686018427387904',
  ],
  [
    { ...integer, minimum: 10, exclusiveMinimum: true },
    -(2n ** 60n),
    'f: Invalid value: -1152921504606846976: f in body should be greater than 10',
  ],
  [{ ...integer, multipleOf: 3 }, 2n ** 60n - 1n],
  [
    { ...integer, multipleOf: 3 },
    2n ** 60n,
    'f: Invalid value: 1152921504606846976: f in body should be a multiple of 3',
  ],
  [
    { ...integer, multipleOf: 2 },
    2 ** 53 - 1,
    'f: Invalid value: 9007199254740991: f in body should be a multiple of 2',
  ],
  [{ ...integer, multipleOf: 0 }, 1, 'f: Invalid value: 0: factor MultipleOf declared for f must be positive: 0'],
  [{ ...integer, enum: [2n ** 53n + 1n] }, 2n ** 53n + 1n],
  [
    { ...integer, enum: [2n ** 53n + 1n] },
    2n ** 53n,
    'f: Unsupported value: 9007199254740992: supported values: "9007199254740993"',
  ],
  [
    { ...integer, format: 'int32' },
    2n ** 53n,
    '<nil>: Invalid value: "": Checked value must be of type integer with format int32 in f',
  ],
  [{ type: 'array', 'x-kubernetes-list-type': 'set', items: integer }, [2n ** 53n, 2n ** 53n + 1n]],
  [
    { type: 'array', 'x-kubernetes-list-type': 'set', items: integer },
    [2n ** 53n, 2n ** 53n],
    'f[1]: Duplicate value: 9007199254740992',
  ],
  [
    { ...integer, format: 'int32' },
    2 ** 31,
    '<nil>: Invalid value: "": Checked value must be of type integer with format int32 in f',
  ],
  [{ ...integer, format: 'int32' }, -(2 ** 31)],
  [{ ...integer, format: 'int64' }, 2 ** 40],
  [
    { ...integer, format: 'int64' },
    1e19,
    'f: Invalid value: "float64": f in body must be of type int64: "float64"',
    '<nil>: Invalid value: "": Checked value must be of type integer with format int64 in f',
  ],
  [{ ...integer, format: 'uint32' }, 2 ** 40],
  [
    { type: 'number', format: 'float' },
    3.5e38,
    '<nil>: Invalid value: "": Checked value must be of type number with format float in f',
  ],
  [{ type: 'number', format: 'float' }, 0.1],
  [{ type: 'number', format: 'double' }, 3.5e38],
  [{ type: 'number', format: 'int32' }, 3.5e38],
  [
    { ...integer, format: 'int32', maximum: 2 ** 32 - 1 },
    5,
    '<nil>: Invalid value: "": Maximum boundary value must be of type integer with format int32 in f',
  ],
  [
    { ...integer, format: 'int32', minimum: 0.5, multipleOf: 0.5 },
    0,
    '<nil>: Invalid value: "": MultipleOf value must be of type integer with format int32 in f',
    '<nil>: Invalid value: "": Minimum boundary value must be of type integer with format int32 in f',
    'f: Invalid value: 0: f in body should be greater than or equal to 0.5',
  ],
  [{ ...integer, format: 'int32' }, true, 'f: Invalid value: "": f in body must be of type int32: ""'],
  [
    { ...integer, format: 'int32' },
    1.5,
    'f: Invalid value: "float64": f in body must be of type int32: "float64"',
    '<nil>: Invalid value: "": Checked value must be of type integer with format int32 in f',
  ],
  [
    { type: 'array', items: string, format: 'cidr' },
    'x',
    'f: Invalid value: "string": f in body must be of type array: "string"',
  ],
  [
    { 'x-kubernetes-int-or-string': true },
    true,
    'f: Invalid value: "boolean": f in body must be of type integer,string: "boolean"',
  ],
  [string, null, 'f: Invalid value: "null": f in body must be of type string: "null"'],
  [
    { ...string, format: 'date' },
    '2023-02-29',
    'f: Invalid value: "2023-02-29": f in body must be of type date: "2023-02-29"',
  ],
  [{ ...string, format: 'unheard-of' }, 'x'],
  [{ type: 'array', items: string, minItems: 1 }, [], 'f: Invalid value: 0: f in body should have at least 1 items'],
  [{ type: 'array', items: string, maxItems: 1 }, ['a', 'b'], 'f: Too many: 2: must have at most 1 items'],
  [
    { type: 'array', items: string },
    ['a', 1],
    'f[1]: Invalid value: "integer": f[1] in body must be of type string: "integer"',
  ],
  [
    { type: 'object', additionalProperties: integer, maxProperties: 1 },
    { a: 1, b: 2 },
    'f: Too many: 2: must have at most 1 items',
  ],
  [{ type: 'object', required: ['a'], properties: { a: string } }, {}, 'f.a: Required value'],
  [
    { type: 'object', minProperties: 1, required: ['a'], properties: { a: string } },
    {},
    'f: Invalid value: 0: f in body should have at least 1 properties',
    'f.a: Required value',
  ],
  [
    { type: 'object', maxProperties: 1, properties: { a: string, b: string } },
    { a: 1, b: 'x' },
    'f: Too many: 2: must have at most 1 items',
    'f.a: Invalid value: "integer": f.a in body must be of type string: "integer"',
  ],
  [{ ...string, not: { enum: ['bad'] } }, 'bad', '<nil>: Invalid value: "": "f" must not validate the schema (not)'],
  [
    { ...integer, anyOf: [{ minimum: 10 }, { maximum: 2 }] },
    5,
    '<nil>: Invalid value: "": "f" must validate at least one schema (anyOf)',
    'f: Invalid value: 5: f in body should be greater than or equal to 10',
  ],
  [
    { ...string, allOf: [{ pattern: '^x' }, { pattern: 'y$' }] },
    'x',
    'f: Invalid value: "x": f in body should match \'y$\'',
    '<nil>: Invalid value: "": "f" must validate all the schemas (allOf)',
  ],
  [
    { type: 'object', properties: { a: string, b: string }, oneOf: [{ required: ['a'] }, { required: ['b'] }] },
    { a: '', b: '' },
    '<nil>: Invalid value: "": "f" must validate one and only one schema (oneOf). Found 2 valid alternatives',
  ],
  [
    { type: 'array', 'x-kubernetes-list-type': 'set', items: string },
    ['a', 'b', 'a', 'a'],
    'f[2]: Duplicate value: "a"',
  ],
  [
    {
      type: 'array',
      'x-kubernetes-list-type': 'map',
      'x-kubernetes-list-map-keys': ['k'],
      items: { type: 'object', properties: { k: string } },
    },
    [{ k: 'a' }, { k: 'b' }, { k: 'a' }],
    'f[2]: Duplicate value: {"k":"a"}',
  ],
  [
    {
      type: 'array',
      'x-kubernetes-list-type': 'map',
      'x-kubernetes-list-map-keys': ['protocol', 'port'],
      items: { type: 'object', properties: { port: integer, protocol: string } },
    },
    [
      { protocol: 'TCP', port: 1 },
      { port: 1, protocol: 'TCP' },
    ],
    'f[1]: Duplicate value: {"port":1,"protocol":"TCP"}',
  ],
  [
    { type: 'array', 'x-kubernetes-list-type': 'set', items: { type: 'object' } },
    [
      { b: 1, a: '<' },
      { a: '<', b: 1 },
    ],
    'f[1]: Duplicate value: {"a":"\\u003c","b":1}',
  ],
  [
    { type: 'array', 'x-kubernetes-list-type': 'set', items: { ...string, nullable: true } },
    [null, null],
    'f[1]: Duplicate value: null',
  ],
  [
    { type: 'object', 'x-kubernetes-embedded-resource': true },
    { apiVersion: '', kind: '' },
    'f.apiVersion: Invalid value: "": must not be empty',
    'f.kind: Invalid value: "": must not be empty',
  ],
  [
    { type: 'object', 'x-kubernetes-embedded-resource': true, 'x-kubernetes-preserve-unknown-fields': true },
    { kind: 'a_b', metadata: { name: 'a/b' } },
    'f.apiVersion: Required value',
    'f.kind: Invalid value: "a_b": may have mixed case, but should otherwise match: a DNS-1035 label must ' +
      "consist of lower case alphanumeric characters or '-', start with an alphabetic character, and end with an " +
      "alphanumeric character (e.g. 'my-name',  or 'abc-123', regex used for validation is " +
      "'[a-z]([-a-z0-9]*[a-z0-9])?')",
    'f.metadata.name: Invalid value: "a/b": may not contain \'/\'',
  ],
]

for (const [schema, value, ...expected] of cases)
  test(`${writeJson(value)} ${expected.length ? 'does not fit' : 'fits'} ${writeJson(schema)}`, () =>
    assert.deepEqual(messages(schema, value), expected))

describe('ratcheting', () => {
  const short: SchemaSource = { ...string, maxLength: 1 }
  const keyed: SchemaSource = {
    type: 'array',
    'x-kubernetes-list-type': 'map',
    'x-kubernetes-list-map-keys': ['k'],
    items: { type: 'object', properties: { k: string, v: short } },
  }

  test('admits unchanged invalid values', () => {
    const f: SchemaSource = { type: 'object', properties: { a: short, b: string } }
    assert.deepEqual(messages(f, { a: 'long', b: 'new' }, { a: 'long', b: 'old' }), [])
    assert.equal(messages(f, { a: 'longer' }, { a: 'long' }).length, 1)
  })

  test('correlates items of lists with keys at any index', () => {
    assert.deepEqual(messages(keyed, [{ k: 'new' }, { k: 'a', v: 'long' }], [{ k: 'a', v: 'long' }]), [])
    assert.equal(messages(keyed, [{ k: 'b', v: 'long' }], [{ k: 'a', v: 'long' }]).length, 1)
  })

  test('does not correlate items of other lists', () =>
    assert.equal(messages({ type: 'array', items: short }, ['long', 'a'], ['long']).length, 1))

  test('admits duplicates in lists that had some before', () => {
    const set: SchemaSource = { type: 'array', 'x-kubernetes-list-type': 'set', items: string }
    assert.deepEqual(messages(set, ['a', 'a', 'b'], ['a', 'a']), [])
    assert.equal(messages(set, ['a', 'a'], ['a']).length, 1)
  })
})

describe('rules', () => {
  const ruled: SchemaSource = { ...string, minLength: 2, 'x-kubernetes-validations': [{ rule: 'true' }] }
  const ruleFaults = () => [{ reason: 'FieldValueInvalid', field: 'f', message: 'no' }] as const

  test('are evaluated after all other checks', () => {
    assert.deepEqual(messages(ruled, 'a', undefined, { ruleFaults }), [
      'f: Invalid value: "a": f in body should be at least 2 chars long',
      'f: no',
    ])
  })

  test('are not evaluated for values of another type', () => {
    assert.match(
      messages(ruled, 1, undefined, { ruleFaults })[1] ?? '',
      /^<nil>: Invalid value: null: some validation rules were not checked/,
    )
  })
})

test('a write to /status validates the status: messages name paths in it, fields name paths in the object', () => {
  const hash: SchemaSource = { ...integer, format: 'int32' }
  const schema = structuralSchema({
    type: 'object',
    properties: { spec: string, status: { type: 'object', properties: { n: integer, hash } } },
  })
  assert.deepEqual(
    schemaFaults({ spec: 1, status: { n: 'x', hash: 2 ** 31 } }, schema, undefined, { statusOnly: true }).map(
      ({ field, message }) => `${field}: ${message}`,
    ),
    [
      'status.n: Invalid value: "string": n in body must be of type integer: "string"',
      'status: Invalid value: "": Checked value must be of type integer with format int32 in hash',
    ],
  )
})

test('large objects with many errors, and large changed lists, are validated in linear time', () => {
  const many = Array.from({ length: 50_000 }, (_, i) => ({ k: `${i}`, v: 'long' }))
  const keyed: SchemaSource = {
    type: 'array',
    'x-kubernetes-list-type': 'map',
    'x-kubernetes-list-map-keys': ['k'],
    items: { type: 'object', properties: { k: string, v: { ...string, maxLength: 1 } } },
  }
  assert.deepEqual(messages(keyed, [{ k: 'new' }, ...many], many), [])
  assert.equal(messages({ type: 'array', items: integer }, Array(500_000).fill('x')).length, 10_000)
})
