import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { Field, FieldType, StructType } from '../../schema.ts'
import { double, envelope, field, number } from '../encode.fixture.ts'
import { MessageEncoder } from './message-encoder.ts'

const optional = (type: FieldType): Field => ({ type, keepsEmpty: false })
const pointer = (type: FieldType): Field => ({ type, keepsEmpty: true })
const written = (type: FieldType): Field => ({ type, keepsEmpty: true, written: true })

const struct = (goName: string, fields: Readonly<Record<string, Field>>): StructType => ({
  kind: 'struct',
  definition: `io.k8s.api.test.v1.${goName}`,
  goName,
  fields: new Map(Object.entries(fields)),
  required: new Set(),
  atomic: false,
  groupVersionKinds: [],
})

const text: FieldType = { kind: 'string' }
const int64: FieldType = { kind: 'integer', format: 'int64' }

const numbers: Readonly<Record<string, string>> = {
  Thing:
    'ready:6 name:1 data:2 count:3 ratio:5 codes:7 since:8 renewed:9 port:10 limits:11 +ThingSource:12 template:13 ' +
    'extra:14 items:15 labels:16 replicas:17 status:18',
  ThingSource: 'emptyDir:2 secret:6',
  EmptyDir: 'medium:1',
}

const emptyDir = struct('EmptyDir', { medium: optional(text) })
const types: Readonly<Record<string, Field>> = {
  name: pointer(text),
  data: pointer({ kind: 'map', values: { kind: 'string', format: 'byte' } }),
  count: pointer(int64),
  ratio: pointer({ kind: 'number' }),
  ready: pointer({ kind: 'boolean' }),
  codes: pointer({ kind: 'array', items: int64 }),
  since: pointer({ kind: 'string', format: 'date-time' }),
  renewed: pointer({ kind: 'string', format: 'micro-time' }),
  port: pointer({ kind: 'int-or-string' }),
  limits: pointer({ kind: 'map', values: { kind: 'quantity' } }),
  emptyDir: pointer(emptyDir),
  secret: pointer(text),
  template: pointer({ kind: 'any' }),
  extra: pointer({ kind: 'map', values: { kind: 'array', items: text } }),
  items: pointer({ kind: 'array', items: emptyDir }),
  labels: pointer({ kind: 'map', values: text }),
  replicas: pointer(int64),
  status: pointer(emptyDir),
}

const encoder = new MessageEncoder((definition) => numbers[definition.slice('io.k8s.api.test.v1.'.length)])

/** Encodes an object with some fields, which always has the inlined message. */
function assertEncoded(
  object: Record<string, unknown>,
  fields: readonly Buffer[],
  changed: Record<string, Field> = {},
) {
  const bytes = encoder.encode(struct('Thing', { ...types, ...changed }), {
    ...object,
    apiVersion: 'test/v1',
    kind: 'Thing',
  })
  assert.deepEqual(bytes, envelope('test/v1', 'Thing', fields))
}

const source = field(12, '')

describe('an encoded message', () => {
  test('has its fields in the order of their numbers', () => {
    assertEncoded({ ready: true, replicas: 3, name: 'näme', count: 2 ** 40, ratio: 0.25 }, [
      field(1, 'näme'),
      number(3, 2 ** 40),
      double(5, 0.25),
      number(6, 1),
      source,
      number(17, 3),
    ])
  })

  test('has negative and long integers', () => {
    assertEncoded({ codes: [-5, 300, 2n ** 62n, -(2n ** 63n), 2 ** 31] }, [
      ...[-5, 300, 2n ** 62n, -(2n ** 63n), 2 ** 31].map((code) => number(7, code)),
      source,
    ])
  })

  test('has entries of maps in the order of the bytes of their keys', () => {
    const entry = (at: number, key: string, value: Buffer): Buffer => field(at, [field(1, key), value])
    assertEncoded(
      {
        data: { b: 'AP8=', a: '' },
        limits: { cpu: '100m' },
        extra: { scopes: ['a', 'b'] },
        labels: { '\u{1f600}': 'x', '\uffee': 'y' },
      },
      [
        entry(2, 'a', field(2, '')),
        entry(2, 'b', field(2, Buffer.from([0, 255]))),
        entry(11, 'cpu', field(2, [field(1, '100m')])),
        source,
        entry(14, 'scopes', field(2, [field(1, 'a'), field(1, 'b')])),
        entry(16, '\uffee', field(2, 'y')),
        entry(16, '\u{1f600}', field(2, 'x')),
      ],
    )
  })

  test('has times, int-or-strings, raw JSON and inlined messages in their forms', () => {
    assertEncoded(
      {
        since: '2023-11-14T22:13:20Z',
        renewed: '2023-11-14T22:13:20.001234Z',
        port: 80,
        emptyDir: {},
        secret: 's',
        template: { a: [1, null] },
      },
      [
        field(8, [number(1, 1_700_000_000), number(2, 0)]),
        field(9, [number(1, 1_700_000_000), number(2, 1_234_000)]),
        field(10, [number(1, 0), number(2, 80), field(3, '')]),
        field(12, [field(2, [field(1, '')]), field(6, 's')]),
        field(13, [field(1, '{"a":[1,null]}')]),
      ],
    )
    assertEncoded({ port: 'http', items: [{ medium: 'a' }, null] }, [
      field(10, [number(1, 1), number(2, 0), field(3, 'http')]),
      source,
      field(15, [field(1, 'a')]),
      field(15, [field(1, '')]),
    ])
  })

  test('has the zero values of fields that are no pointers in Go', () => {
    const changed = {
      name: optional(text),
      count: optional(int64),
      ready: optional({ kind: 'boolean' } as const),
      since: written({ kind: 'string', format: 'date-time' }),
      status: written(emptyDir),
    }
    const zeros = [field(1, ''), number(3, 0), number(6, 0), field(8, ''), source, field(18, [field(1, '')])]
    assertEncoded({}, zeros, changed)
    assertEncoded({ since: null }, zeros, changed)
  })

  test('may be larger than the buffer for messages', () => {
    const name = 'x'.repeat(3 * 1024 * 1024)
    assertEncoded({ name }, [field(1, name), source])
    assertEncoded({ name: 'x' }, [field(1, 'x'), source])
  })
})
