import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Field, FieldType, StructType } from '../schema.ts'
import { DecodeError, decode, duplicateFieldMessages, jsonPatchMessages, nilCollections } from './index.ts'

const struct = (definition: string, fields: Record<string, Field>): StructType => ({
  kind: 'struct',
  definition,
  goName: definition.slice(definition.lastIndexOf('.') + 1),
  fields: new Map(Object.entries(fields)),
  required: new Set(),
  atomic: false,
  groupVersionKinds: [],
})
const optional = (type: FieldType): Field => ({ type, keepsEmpty: false })
const pointer = (type: FieldType): Field => ({ type, keepsEmpty: true })
const written = (type: FieldType): Field => ({ type, keepsEmpty: true, written: true })
const text: FieldType = { kind: 'string' }
const int32: FieldType = { kind: 'integer', format: 'int32' }

const port = struct('io.k8s.api.core.v1.Port', {
  name: optional(text),
  number: written(int32),
  target: optional({ kind: 'int-or-string' }),
})
const spec = struct('io.k8s.api.core.v1.ThingSpec', {
  bytes: optional({ kind: 'string', format: 'byte' }),
  free: pointer({ kind: 'any' }),
  limits: { type: { kind: 'map', values: { kind: 'quantity' } }, keepsEmpty: false, goType: 'v1.ResourceList' },
  named: pointer({ kind: 'map', values: port }),
  policy: { type: text, keepsEmpty: false, goType: 'v1.Policy' },
  ports: optional({ kind: 'array', items: port }),
  replicas: pointer(int32),
  rules: written({ kind: 'array', items: text }),
  since: optional({ kind: 'string', format: 'date-time' }),
})
const meta = struct('io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta', {
  labels: optional({ kind: 'map', values: text }),
  name: optional(text),
})
const thing = struct('io.k8s.api.core.v1.Thing', {
  kind: optional(text),
  apiVersion: optional(text),
  metadata: written(meta),
  spec: written(spec),
})

const object = (value: unknown): Record<string, unknown> => decode(thing, value).object
const errorMessage = (value: unknown): string => {
  try {
    decode(thing, value)
  } catch (error) {
    assert.ok(error instanceof DecodeError)
    return error.message
  }
  return assert.fail('decoded')
}

test('an owned value is changed in place where needed; otherwise the object is a copy', () => {
  const source = () => ({
    metadata: { name: 'a', colour: 1 },
    spec: { ports: [{ number: 1 }, { number: 2, target: null }], limits: { cpu: '1' }, rules: ['x'] },
  })
  const mine = source()
  const decoded = decode(thing, mine, { owned: true }).object as ReturnType<typeof source>
  assert.notEqual(decoded.metadata, mine.metadata)
  assert.equal(decoded.spec, mine.spec)
  assert.deepEqual(decoded, {
    metadata: { name: 'a' },
    spec: { ports: [{ number: 1 }, { number: 2 }], limits: { cpu: '1' }, rules: ['x'] },
  })

  const theirs = source()
  const copy = decode(thing, theirs).object as ReturnType<typeof source>
  assert.deepEqual(copy, decoded)
  assert.deepEqual(theirs, source())
  for (const [one, other] of [
    [copy.spec, theirs.spec],
    [copy.spec.ports, theirs.spec.ports],
    [copy.spec.ports[0], theirs.spec.ports[0]],
    [copy.spec.limits, theirs.spec.limits],
  ])
    assert.notEqual(one, other)
})

test('empty values are dropped unless Go has a pointer, and fields that Go always writes are added', () => {
  assert.deepEqual(
    object({ metadata: { name: '', labels: {} }, spec: { replicas: 0, policy: '', ports: [], limits: {}, named: {} } }),
    {
      metadata: {},
      spec: { named: {}, replicas: 0, rules: null },
    },
  )
  assert.deepEqual(object({}), { metadata: {}, spec: { rules: null } })
})

test('an empty list that Go always writes is retained in a request, and null once it is stored', () => {
  const decoded = object({ spec: { rules: [] } })
  assert.deepEqual(decoded, { metadata: {}, spec: { rules: [] } })
  nilCollections(thing)?.(decoded)
  assert.deepEqual(decoded, { metadata: {}, spec: { rules: null } })
})

test('null counts as absent; in lists and maps it is the zero value', () => {
  assert.deepEqual(object({ metadata: null, spec: { replicas: null, rules: [null, 'a'], ports: [null] } }), {
    metadata: {},
    spec: { ports: [{ number: 0 }], rules: ['', 'a'] },
  })
  assert.deepEqual(object({ metadata: { labels: { a: null } } }).metadata, { labels: { a: '' } })
})

test('unknown fields are dropped and listed with their paths', () => {
  const decoded = decode(thing, {
    Metadata: 1,
    metadata: { colour: 'red' },
    spec: { ports: [{ number: 1 }, { numbers: 2 }], named: { 'a.b': { x: {} } } },
  })
  assert.deepEqual(decoded.unknown, ['Metadata', 'metadata.colour', 'spec.ports[1].numbers', 'spec.named.a.b.x'])
  assert.equal(decoded.strict[0], 'unknown field "Metadata"')
  assert.deepEqual(decoded.object, {
    metadata: {},
    spec: { named: { 'a.b': { number: 0 } }, ports: [{ number: 1 }, { number: 0 }], rules: null },
  })
})

test("wrong types fail with Go's message", () => {
  assert.equal(
    errorMessage({ metadata: { name: 7 } }),
    'json: cannot unmarshal number into Go struct field ObjectMeta.metadata.name of type string',
  )
  assert.equal(
    errorMessage({ metadata: { labels: ['x'] } }),
    'json: cannot unmarshal array into Go struct field ObjectMeta.metadata.labels of type map[string]string',
  )
  assert.equal(
    errorMessage({ metadata: { labels: { a: {} } } }),
    'json: cannot unmarshal object into Go struct field ObjectMeta.metadata.labels of type string',
  )
  assert.equal(
    errorMessage({ spec: { ports: [{ number: 'x' }] } }),
    'json: cannot unmarshal string into Go struct field Port.spec.ports.number of type int32',
  )
  assert.equal(
    errorMessage({ spec: { ports: ['x'] } }),
    'json: cannot unmarshal string into Go struct field ThingSpec.spec.ports of type v1.Port',
  )
  assert.equal(
    errorMessage({ spec: { ports: {} } }),
    'json: cannot unmarshal object into Go struct field ThingSpec.spec.ports of type []v1.Port',
  )
  assert.equal(
    errorMessage({ spec: { named: { key: { number: true } } } }),
    'json: cannot unmarshal bool into Go struct field Port.spec.named.number of type int32',
  )
  assert.equal(
    errorMessage({ spec: { policy: 1 } }),
    'json: cannot unmarshal number into Go struct field ThingSpec.spec.policy of type v1.Policy',
  )
  assert.equal(
    errorMessage({ spec: 'x' }),
    'json: cannot unmarshal string into Go struct field Thing.spec of type v1.ThingSpec',
  )
  assert.equal(errorMessage([]), 'json: cannot unmarshal array into Go value of type v1.Thing')
})

test('errors for wrong types also have the message of Go’s converter', () => {
  const conversion = (value: unknown): string => {
    try {
      return assert.fail(JSON.stringify(decode(thing, value)))
    } catch (error) {
      return error instanceof DecodeError ? error.conversion : String(error)
    }
  }
  assert.equal(conversion({ metadata: { labels: 'x' } }), 'cannot restore map from string')
  assert.equal(conversion({ metadata: { labels: { a: 1 } } }), 'cannot convert int64 to string')
  assert.equal(conversion({ metadata: { name: 1.5 } }), 'unrecognized type: string')
  assert.equal(conversion({ spec: { ports: {} } }), 'cannot restore slice from map')
  assert.equal(conversion({ spec: { ports: [true] } }), 'cannot restore struct from: bool')
  assert.equal(conversion({ spec: { bytes: 1 } }), 'cannot restore slice from int64')
  assert.equal(conversion({ spec: { replicas: 'many' } }), 'unrecognized type: int32')
  assert.equal(conversion({ spec: { replicas: 1.5 } }), 'cannot convert float64 to int32')
  assert.equal(conversion({ spec: { policy: 1 } }), 'cannot convert int64 to v1.Policy')
  assert.equal(conversion({ spec: { policy: [] } }), 'unrecognized type: string')
  assert.equal(conversion({ spec: { since: 1 } }), 'json: cannot unmarshal number into Go value of type string')
  assert.equal(
    conversion({ spec: { ports: [{ target: true }] } }),
    'json: cannot unmarshal bool into Go value of type int32',
  )
})

test('numbers must be whole and in range', () => {
  assert.equal(
    errorMessage({ spec: { replicas: 1.5 } }),
    'json: cannot unmarshal number 1.5 into Go struct field ThingSpec.spec.replicas of type int32',
  )
  assert.equal(
    errorMessage({ spec: { replicas: 2147483648 } }),
    'json: cannot unmarshal number 2147483648 into Go struct field ThingSpec.spec.replicas of type int32',
  )
  assert.equal(
    errorMessage({ spec: { ports: [{ target: true }] } }),
    'json: cannot unmarshal bool into Go struct field Port.spec.ports.target of type int32',
  )
})

test('integers of 64 bits are exact, and larger ones are rejected', () => {
  const type = struct('io.k8s.api.core.v1.Numbers', {
    long: pointer({ kind: 'integer', format: 'int64' }),
    short: pointer(int32),
    ratio: pointer({ kind: 'number' }),
    amount: pointer({ kind: 'quantity' }),
    either: pointer({ kind: 'int-or-string' }),
    free: pointer({ kind: 'any' }),
  })
  const read = (json: string): unknown => decode(type, json).object
  const expectedError = (json: string): RegExp | object => ({ message: json })
  assert.deepEqual(read('{"long":9223372036854775807}'), { long: 2n ** 63n - 1n })
  assert.deepEqual(read('{"long":-9223372036854775808,"ratio":9007199254740993,"amount":9007199254740993}'), {
    long: -(2n ** 63n),
    ratio: 9007199254740992,
    amount: '9007199254740993',
  })
  assert.deepEqual(read('{"free":{"a":9223372036854775807,"b":[9223372036854775808]}}'), {
    free: { a: 2n ** 63n - 1n, b: [2 ** 63] },
  })
  const assertRejected = (field: string, value: string, goType: string, shown = `number ${value}`): void =>
    assert.throws(
      () => read(`{"${field}":${value}}`),
      expectedError(`json: cannot unmarshal ${shown} into Go struct field Numbers.${field} of type ${goType}`),
    )
  assertRejected('long', '9223372036854775808', 'int64')
  assertRejected('long', '-9223372036854775809', 'int64')
  assertRejected('short', '9223372036854775807', 'int32')
  assertRejected('either', '9223372036854775807', 'int32')
  assertRejected('long', '1.0', 'int64')
  assertRejected('short', '1e3', 'int32')
  assertRejected('long', '1e400', 'int64')
  assertRejected('either', '80.0', 'int32')
  assertRejected('ratio', '1e400', 'float64')
  assert.throws(
    () => read('{"free":[{"a":-1e400}]}'),
    expectedError('json: cannot unmarshal number -1e400 into Go value of type float64'),
  )
  assert.deepEqual(read('{"long":-0,"ratio":1.0,"amount":1e3,"free":[1.0,1e3]}'), {
    long: -0,
    ratio: 1,
    amount: '1e3',
    free: [1, 1000],
  })
  assert.deepEqual(read('{"unheard":1e400,"long":1}'), { long: 1 })
  // A patch may have converted a float.
  assert.deepEqual(decode(type, { long: 2 ** 60 }).object, { long: 2n ** 60n })
  assert.throws(() => decode(type, { long: 2 ** 63 }), /cannot unmarshal number/)
})

test('quantities, bytes and times are validated and made canonical', () => {
  assert.deepEqual(
    object({ spec: { limits: { cpu: 1, memory: '1024Ki' }, bytes: 'YWI=\n', since: '2020-01-01T02:00:00.5+02:00' } })
      .spec,
    {
      bytes: 'YWI=',
      limits: { cpu: '1', memory: '1Mi' },
      rules: null,
      since: '2020-01-01T00:00:00Z',
    },
  )
  assert.match(errorMessage({ spec: { limits: { cpu: 'lots' } } }), /^quantities must match the regular expression/)
  assert.equal(errorMessage({ spec: { bytes: 'YW' } }), 'illegal base64 data at input byte 0')
  assert.equal(errorMessage({ spec: { bytes: 'YWJj!WJj' } }), 'illegal base64 data at input byte 4')
  assert.equal(
    errorMessage({ spec: { since: 'soon' } }),
    'parsing time "soon" as "2006-01-02T15:04:05Z07:00": cannot parse "soon" as "2006"',
  )
})

test('duplicate keys are found in the text, and the last one counts', () => {
  const decoded = decode(
    thing,
    '{"metadata":{"name":"no","name":"a","colour":1,"labels":{"x":"1","x":"2"}},' +
      '"spec":{"what":{"a":1,"a":2},"free":{"b":1,"b":2},"policy":"p","policy":"q"}}',
  )
  assert.deepEqual(decoded.duplicates, ['metadata.name', 'metadata.labels.x', 'spec.policy'])
  assert.deepEqual(decoded.strict, [
    'duplicate field "metadata.name"',
    'unknown field "metadata.colour"',
    'duplicate field "metadata.labels.x"',
    'unknown field "spec.what"',
    'duplicate field "spec.policy"',
  ])
  assert.deepEqual(decoded.object.metadata, { labels: { x: '2' }, name: 'a' })
})

test('strings that look like duplicate keys are not reported', () => {
  const source = JSON.stringify(
    {
      metadata: { name: 'a": "b', labels: { 'x:"': '":', 'back\\': '\\"":' } },
      spec: { free: { 'a"': [{ b: 1 }, { b: 2 }] } },
    },
    null,
    1,
  )
  assert.deepEqual(decode(thing, source).strict, [])
})

test('duplicate keys of patches are reported with their paths', () => {
  const text = '{"metadata":{"labels":{"a":"5","a":"6"}}}'
  assert.deepEqual(duplicateFieldMessages(text, JSON.parse(text)), ['duplicate field "metadata.labels.a"'])
})

test('unknown and duplicate fields of a JSON patch are reported in the order of its text', () => {
  const messages = (text: string): string[] => jsonPatchMessages(text, JSON.parse(text))
  assert.deepEqual(messages('[{"op":"add"},{"op":"add","op":"add","path":"/x"}]'), [
    'json patch duplicate field "[1].op"',
  ])
  assert.deepEqual(messages('[{"op":"add","path":"/x","value":{"a":{"op":1}}}]'), [])
  assert.deepEqual(
    messages('[{"op":"add","path":"/x","foo":{"a":1,"a":2},"foo":3},{"value":{"b":1,"b":2},"Op":"add"}]'),
    [
      'json patch unknown field "[0].foo"',
      'json patch duplicate field "[1].value.b"',
      'json patch unknown field "[1].Op"',
    ],
  )
  assert.deepEqual(messages('{"op":"add"}'), [])
})

test('__proto__ is decoded as a normal key and changes no prototype', () => {
  const decoded = decode(
    thing,
    '{"__proto__":{"polluted":1},"metadata":{"labels":{"__proto__":"x"}},"spec":{"limits":{"__proto__":"1"}}}',
  )
  assert.deepEqual(decoded.unknown, ['__proto__'])
  assert.equal(
    JSON.stringify(decoded.object),
    '{"metadata":{"labels":{"__proto__":"x"}},"spec":{"limits":{"__proto__":"1"},"rules":null}}',
  )
  assert.equal(({} as Record<string, unknown>).polluted, undefined)
})

test('free-form JSON that is nested too deeply is rejected', () => {
  const nested = `${'['.repeat(5000)}${']'.repeat(5000)}`
  assert.match(errorMessage(`{"spec":{"free":${nested}}}`), /^exceeded max depth/)
  assert.match(errorMessage(`{"other":${nested}}`), /^exceeded max depth/)
})

test('objects of recursive types that are nested too deeply are rejected', () => {
  const schema = struct('v1.Schema', {})
  Object.assign(schema, {
    fields: new Map<string, Field>([
      ['not', pointer(schema)],
      ['items', pointer({ kind: 'any', object: schema })],
      ['title', optional(text)],
    ]),
  })
  const deep = `${'{"not":'.repeat(5000)}{}${'}'.repeat(5000)}`
  assert.throws(() => decode(schema, deep), /exceeded max depth/)
  const loose = decode(schema, '{"items":{"title":"","items":[{"titel":1},true]}}')
  assert.deepEqual(loose.object, { items: { items: [{}, true] } })
  assert.deepEqual(loose.strict, [])
})

test('text that is not JSON is a syntax error', () => {
  assert.throws(
    () => decode(thing, '{"a"'),
    (error) => error instanceof DecodeError && error.syntax,
  )
})

test('the result of a patch is decoded in the same way, and not changed', () => {
  const source = { metadata: { name: 'a', colour: 1 }, spec: { ports: [{ number: 1 }], rules: [] } }
  const copy = structuredClone(source)
  assert.deepEqual(decode(thing, source).unknown, ['metadata.colour'])
  assert.deepEqual(source, copy)
})
