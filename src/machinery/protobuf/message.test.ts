import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { Field, FieldType, StructType } from '../schema.ts'
import { double, envelope, field, number, tag, varint } from './encode.fixture.ts'
import { MessageDecoder, openEnvelope } from './index.ts'

/** A struct type with fields of the given types. The other properties do not matter here. */
const struct = (goName: string, types: Readonly<Record<string, FieldType>>): StructType => ({
  kind: 'struct',
  definition: `io.k8s.api.test.v1.${goName}`,
  goName,
  fields: new Map(Object.entries(types).map(([name, type]): [string, Field] => [name, { type, keepsEmpty: true }])),
  required: new Set(),
  atomic: false,
  groupVersionKinds: [],
})

const text: FieldType = { kind: 'string' }
const int64: FieldType = { kind: 'integer', format: 'int64' }

const volume = struct('Volume', { name: text, emptyDir: struct('EmptyDir', { medium: text }), secret: text })
const schemaFields: Record<string, FieldType> = {
  type: text,
  enum: { kind: 'array', items: { kind: 'any' } },
  default: { kind: 'any' },
  items: { kind: 'any' },
}
schemaFields.additionalProperties = { kind: 'any' }
schemaFields.dependencies = { kind: 'map', values: { kind: 'any' } }
const schema = struct('Schema', schemaFields)

const thing = struct('Thing', {
  name: text,
  data: { kind: 'map', values: { kind: 'string', format: 'byte' } },
  count: int64,
  small: { kind: 'integer', format: 'int32' },
  ratio: { kind: 'number' },
  ready: { kind: 'boolean' },
  codes: { kind: 'array', items: int64 },
  since: { kind: 'string', format: 'date-time' },
  renewed: { kind: 'string', format: 'micro-time' },
  port: { kind: 'int-or-string' },
  limits: { kind: 'map', values: { kind: 'quantity' } },
  volumes: { kind: 'array', items: volume },
  template: { kind: 'any' },
  extra: { kind: 'map', values: { kind: 'array', items: text } },
  schema,
  labels: { kind: 'map', values: text },
})
const nested = struct('Nested', {})
;(nested.fields as Map<string, Field>).set('inner', { type: nested, keepsEmpty: true })

const numbers: Readonly<Record<string, string>> = {
  Thing:
    'name:1 data:2 count:3 small:4 ratio:5 ready:6 codes:7 since:8 renewed:9 port:10 limits:11 volumes:12 ' +
    'template:13 extra:14 schema:15 labels:16',
  Volume: 'name:1 +VolumeSource:2',
  VolumeSource: 'emptyDir:2 secret:6',
  EmptyDir: 'medium:1',
  Schema:
    'type:5 default:8 enum:20 items/schema-or-list:24 additionalProperties/schema-or-bool:30 ' +
    'dependencies/schema-or-strings:32',
  Nested: 'inner:1',
}
const messages = new MessageDecoder((definition) => numbers[definition.slice('io.k8s.api.test.v1.'.length)])
const decode = (...parts: Buffer[]): unknown => messages.decode(thing, Buffer.concat(parts))
const decodeSchema = (...parts: Buffer[]): unknown => messages.decode(schema, Buffer.concat(parts))
const raw = (at: number, json: string): Buffer => field(at, [field(1, json)])

describe('the envelope', () => {
  test('names the type and holds the message', () => {
    const { apiVersion, kind, raw } = openEnvelope(envelope('v1', 'ConfigMap', [field(1, 'x')]))
    assert.deepEqual([apiVersion, kind, raw], ['v1', 'ConfigMap', field(1, 'x')])
  })

  test('is rejected without its magic bytes', () => {
    assert.throws(() => openEnvelope(Buffer.from('{}')), {
      message: 'provided data does not appear to be a protobuf message, expected prefix [107 56 115 0]',
    })
    assert.throws(() => openEnvelope(Buffer.from('k8s\0')), { message: 'empty body' })
  })

  test('is rejected if it is truncated', () => {
    assert.throws(() => openEnvelope(envelope('v1', 'ConfigMap', [field(1, 'x')]).subarray(0, -8)), {
      message: 'unexpected EOF',
    })
  })
})

describe('a message', () => {
  test('decodes strings, numbers and booleans', () => {
    assert.deepEqual(decode(field(1, 'näme'), number(3, 2 ** 40), number(4, 8080), double(5, 0.25), number(6, 1)), {
      name: 'näme',
      count: 2 ** 40,
      small: 8080,
      ratio: 0.25,
      ready: true,
    })
  })

  test('decodes negative numbers, which take ten bytes each', () => {
    assert.deepEqual(decode(number(3, -5), number(4, -1)), { count: -5, small: -1 })
    assert.deepEqual(decode(number(3, -(2n ** 63n))), { count: -(2n ** 63n) })
    assert.deepEqual(decode(number(3, 2n ** 53n + 1n), number(4, 2n ** 53n + 1n)), { count: 2n ** 53n + 1n, small: 1 })
  })

  test('decodes bytes to base64, also in maps', () => {
    assert.deepEqual(decode(field(2, [field(1, 'key'), field(2, Buffer.from([0, 255]))])), { data: { key: 'AP8=' } })
  })

  test('retains explicit empty strings and zeros: the decoder drops those that Go omits', () => {
    assert.deepEqual(decode(field(1, ''), number(3, 0), number(6, 0)), { name: '', count: 0, ready: false })
  })

  test('decodes lists of numbers, packed or not', () => {
    assert.deepEqual(decode(number(7, 1), field(7, [varint(2), varint(300)]), number(7, 4)), { codes: [1, 2, 300, 4] })
  })

  test('decodes times to RFC 3339 and omits the zero time', () => {
    assert.deepEqual(
      decode(
        field(8, [number(1, 1_700_000_000), number(2, 999_000_000)]),
        field(9, [number(1, 1_700_000_000), number(2, 1_234_567)]),
      ),
      {
        since: '2023-11-14T22:13:20Z',
        renewed: '2023-11-14T22:13:20.001234Z',
      },
    )
    assert.deepEqual(decode(field(8, ''), field(9, '')), {})
    assert.throws(() => decode(field(8, [number(1, 2 ** 50)])), {
      message: 'Time.MarshalJSON: year outside of range [0,9999]',
    })
  })

  test('decodes IntOrString to a number or a string', () => {
    assert.deepEqual(decode(field(10, [number(1, 0), number(2, 80), field(3, '')])), { port: 80 })
    assert.deepEqual(decode(field(10, [number(1, 1), number(2, 0), field(3, 'http')])), { port: 'http' })
  })

  test('decodes maps of quantities', () => {
    const entry = (key: string, value: string): Buffer => field(11, [field(1, key), field(2, [field(1, value)])])
    assert.deepEqual(decode(entry('cpu', '100m'), entry('memory', '1Gi')), { limits: { cpu: '100m', memory: '1Gi' } })
  })

  test('decodes a map entry without a value to the zero value', () => {
    assert.deepEqual(decode(field(16, [field(1, 'a')]), field(11, [field(1, 'cpu')])), {
      labels: { a: '' },
      limits: { cpu: '0' },
    })
  })

  test('decodes the map key __proto__ to an own property', () => {
    const { labels } = decode(field(16, [field(1, '__proto__'), field(2, 'x')])) as { labels: object }
    assert.deepEqual(Object.entries(labels), [['__proto__', 'x']])
    assert.equal(Object.getPrototypeOf(labels), Object.prototype)
  })

  test('merges the fields of an inlined message into the object', () => {
    assert.deepEqual(
      decode(
        field(12, [field(1, 'tmp'), field(2, [field(2, '')])]),
        field(12, [field(1, 'keys'), field(2, [field(6, 's')])]),
      ),
      {
        volumes: [
          { name: 'tmp', emptyDir: {} },
          { name: 'keys', secret: 's' },
        ],
      },
    )
  })

  test('decodes lists that are the values of a map', () => {
    assert.deepEqual(decode(field(14, [field(1, 'scopes'), field(2, [field(1, 'a'), field(1, 'b')])])), {
      extra: { scopes: ['a', 'b'] },
    })
  })

  test('decodes raw JSON', () => {
    assert.deepEqual(decode(raw(13, '{"a":[1,null]}')), { template: { a: [1, null] } })
    assert.deepEqual(decode(field(13, '')), {})
    assert.throws(() => decode(raw(13, '{"a"')), /^DecodeError: raw JSON in the message: /)
  })

  test('decodes fields that hold a schema, or a list, boolean or strings instead', () => {
    const string = [field(5, 'string')]
    assert.deepEqual(decodeSchema(field(24, [field(1, string)])), { items: { type: 'string' } })
    assert.deepEqual(decodeSchema(field(24, [field(2, string), field(2, '')])), { items: [{ type: 'string' }, {}] })
    assert.deepEqual(decodeSchema(field(30, [number(1, 1)])), { additionalProperties: true })
    assert.deepEqual(decodeSchema(field(30, [number(1, 0)])), { additionalProperties: false })
    assert.deepEqual(decodeSchema(field(30, [number(1, 1), field(2, string)])), {
      additionalProperties: { type: 'string' },
    })
    assert.deepEqual(
      decodeSchema(
        field(32, [field(1, 'a'), field(2, [field(2, 'b')])]),
        field(32, [field(1, 'c'), field(2, [field(1, string)])]),
      ),
      {
        dependencies: { a: ['b'], c: { type: 'string' } },
      },
    )
    assert.deepEqual(decodeSchema(raw(20, 'null'), raw(20, '"a"')), { enum: [null, 'a'] })
  })

  test('merges a message that is split into several fields', () => {
    assert.deepEqual(decode(field(15, [field(5, 'object')]), field(1, 'a'), field(15, [raw(8, '{}')]), field(1, 'b')), {
      name: 'b',
      schema: { type: 'object', default: {} },
    })
  })

  test('skips unknown fields', () => {
    const group = Buffer.concat([tag(99, 3), number(1, 5), field(2, 'x'), tag(99, 4)])
    const fixed32 = Buffer.concat([tag(98, 5), Buffer.alloc(4)])
    assert.deepEqual(decode(number(90, 1), double(91, 1), field(92, 'x'), group, fixed32, field(1, 'a')), { name: 'a' })
  })
})

describe('an invalid message', () => {
  test("fails with Go's message", () => {
    const message = (...parts: Buffer[]): string => {
      try {
        decode(...parts)
      } catch (error) {
        return (error as Error).message
      }
      return 'decoded'
    }
    assert.equal(message(field(1, 'name').subarray(0, -1)), 'unexpected EOF')
    assert.equal(message(tag(1, 2), varint(2 ** 40)), 'unexpected EOF')
    assert.equal(message(tag(1, 2), varint(-1)), 'proto: negative length found during unmarshaling')
    assert.equal(message(tag(90, 2), varint(-1)), 'proto: negative length found during unmarshaling')
    assert.equal(message(Buffer.alloc(11, 0xff)), 'proto: integer overflow')
    assert.equal(message(number(1, 1)), 'proto: wrong wireType = 0 for field Name')
    assert.equal(message(tag(0, 0)), 'proto: Thing: illegal tag 0 (wire type 0)')
    assert.equal(message(tag(1, 4)), 'proto: Thing: wiretype end group for non-group')
    assert.equal(message(tag(90, 7)), 'proto: illegal wireType 7')
    assert.equal(message(field(12, [tag(1, 2), varint(5)])), 'unexpected EOF')
  })

  test('is rejected if it is nested too deeply', () => {
    let inner = Buffer.alloc(0)
    for (let depth = 0; depth < 600; depth++) inner = field(1, inner) as Buffer<ArrayBuffer>
    assert.throws(() => messages.decode(nested, inner), { message: 'exceeded max depth of 500 nested messages' })
  })

  test('is rejected with 413 if it has more fields than an object may have', () => {
    const empty = field(1, '')
    assert.throws(() => messages.decode(nested, Buffer.alloc(empty.length * 400_000, empty)), { code: 413 })
  })

  test('throws DecodeErrors only', () => {
    let seed = 1
    const random = (below: number): number => {
      seed = (seed * 48271) % 2147483647
      return seed % below
    }
    const whole = Buffer.concat([
      field(1, 'a'),
      number(3, 7),
      field(12, [field(1, 'v'), field(2, [field(2, '')])]),
      raw(13, '{}'),
      field(8, [number(1, 5)]),
    ])
    for (let round = 0; round < 5000; round++) {
      const broken = Buffer.from(whole.subarray(0, 1 + random(whole.length)))
      broken[random(broken.length)] = random(256)
      try {
        decode(broken)
      } catch (error) {
        assert.equal((error as Error).name, 'DecodeError', `${broken.toString('hex')}: ${(error as Error).stack}`)
      }
    }
  })
})
