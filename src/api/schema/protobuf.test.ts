import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { decode } from '../../machinery/decode/index.ts'
import { double, field, number } from '../../machinery/protobuf/encode.fixture.ts'
import { MessageDecoder, MessageEncoder, openEnvelope } from '../../machinery/protobuf/index.ts'
import type { FieldType, StructType } from '../../machinery/schema.ts'
import { allResources } from '../registry.ts'
import { schemaOf } from './index.ts'
import { modelNames, modelType } from './loader.ts'
import { protobufNumbers } from './protobuf.ts'

interface Entry {
  readonly name: string
  readonly form?: string
  readonly at: number
  /** The inlined definition. */
  readonly inlined?: string
}

function entriesOf(definition: string): Entry[] {
  const text = protobufNumbers(definition)
  assert.notEqual(text, undefined, `no numbers of ${definition}`)
  if (text === '') return []
  return text!.split(' ').map((part) => {
    const [, name = '', form, at] = /^([^/:]+)(?:\/([\w-]+))?:(\d+)$/.exec(part) ?? []
    if (!name.startsWith('+')) return { name, form, at: Number(at) }
    return {
      name,
      at: Number(at),
      inlined: name.includes('.')
        ? name.slice(1)
        : `${definition.slice(0, definition.lastIndexOf('.'))}.${name.slice(1)}`,
    }
  })
}

/** Returns all field names of a definition, including those of inlined messages. */
const namesOf = (definition: string): string[] =>
  entriesOf(definition).flatMap(({ name, inlined }) => (inlined ? namesOf(inlined) : [name]))

const known = modelNames()
  .map(modelType)
  .filter(({ definition }) => protobufNumbers(definition) !== undefined)

/** Returns a unique value of the type, and its bytes in field `at`. Undefined below the maximum depth. */
function sample(
  type: FieldType,
  at: number,
  form: string | undefined,
  owner: StructType,
  depth: number,
): { value: unknown; bytes: Buffer } | undefined {
  switch (type.kind) {
    case 'string':
      if (type.format === 'byte') return { value: Buffer.from(`b${at}`).toString('base64'), bytes: field(at, `b${at}`) }
      if (type.format === 'date-time')
        return {
          value: `1970-01-01T00:00:${String(at).padStart(2, '0')}Z`,
          bytes: field(at, [number(1, at), number(2, 0)]),
        }
      if (type.format === 'micro-time')
        return { value: '1970-01-01T00:00:01.000002Z', bytes: field(at, [number(1, 1), number(2, 2000)]) }
      return { value: `s${at}`, bytes: field(at, `s${at}`) }
    case 'boolean':
      return { value: true, bytes: number(at, 1) }
    case 'integer':
      return { value: -at, bytes: number(at, -at) }
    case 'number':
      return { value: at / 2, bytes: double(at, at / 2) }
    case 'quantity':
      return { value: `${at}Gi`, bytes: field(at, [field(1, `${at}Gi`)]) }
    case 'int-or-string':
      return { value: `p${at}`, bytes: field(at, [number(1, 1), field(3, `p${at}`)]) }
    case 'any':
      if (form === 'object') return { value: {}, bytes: field(at, '') }
      if (form === 'schema-or-bool') return { value: true, bytes: field(at, [number(1, 1)]) }
      if (form === 'schema-or-strings') return { value: ['x'], bytes: field(at, [field(2, 'x')]) }
      if (form === 'schema-or-list') {
        const one = depth > 0 ? sampleStruct(owner, depth - 1) : { value: {}, bytes: Buffer.alloc(0) }
        return { value: [one.value], bytes: field(at, [field(2, one.bytes)]) }
      }
      return { value: { at }, bytes: field(at, [field(1, `{"at":${at}}`)]) }
    case 'array': {
      const item = sample(type.items, at, form, owner, depth)
      return item && { value: [item.value, item.value], bytes: Buffer.concat([item.bytes, item.bytes]) }
    }
    case 'map': {
      const list = type.values.kind === 'array'
      const item = sample(type.values, list ? 1 : 2, form, owner, depth)
      return (
        item && {
          value: { key: item.value },
          bytes: field(at, [field(1, 'key'), list ? field(2, item.bytes) : item.bytes]),
        }
      )
    }
    case 'struct': {
      if (depth === 0 || protobufNumbers(type.definition) === undefined) return undefined
      const { value, bytes } = sampleStruct(type, depth - 1)
      return { value, bytes: field(at, bytes) }
    }
  }
}

function sampleStruct(
  type: StructType,
  depth: number,
  definition = type.definition,
): { value: Record<string, unknown>; bytes: Buffer } {
  const value: Record<string, unknown> = {}
  const bytes: Buffer[] = []
  for (const { name, form, at, inlined } of entriesOf(definition)) {
    if (inlined) {
      const inner = sampleStruct(type, depth, inlined)
      Object.assign(value, inner.value)
      bytes.push(field(at, inner.bytes))
      continue
    }
    const of = type.fields.get(name)
    const made = of && sample(of.type, at, form, type, depth)
    if (!made) continue
    value[name] = made.value
    bytes.push(made.bytes)
  }
  return { value, bytes: Buffer.concat(bytes) }
}

describe('protobuf field numbers', () => {
  test('exist for kinds that clients send', () => {
    const models = [
      'V1Pod',
      'V1ConfigMap',
      'V1Deployment',
      'V1Job',
      'V1Node',
      'V1Lease',
      'CoreV1Event',
      'EventsV1Event',
      'V1EndpointSlice',
      'V1DeleteOptions',
    ]
    const more = [
      'V1CustomResourceDefinition',
      'V1APIService',
      'AuthenticationV1TokenRequest',
      'V1Eviction',
      'V1Scale',
      'V1Binding',
      'ResourceV1ResourceClaim',
    ]
    for (const model of [...models, ...more])
      assert.notEqual(protobufNumbers(modelType(model).definition), undefined, model)
  })

  test('exist for all kinds that are stored', () => {
    for (const definition of allResources.filter(({ virtual }) => !virtual)) {
      const name = schemaOf(definition)?.definition
      assert.notEqual(name && protobufNumbers(name), undefined, name)
    }
  })

  test('are unique in a message', () => {
    for (const { definition } of known) {
      const numbers = entriesOf(definition).map(({ at }) => at)
      assert.equal(new Set(numbers).size, numbers.length, definition)
      const names = namesOf(definition)
      assert.equal(new Set(names).size, names.length, definition)
    }
  })

  test('exist for all fields', () => {
    const without = known.flatMap(({ definition, fields }) => {
      const names = new Set([...namesOf(definition), 'kind', 'apiVersion'])
      return [...fields.keys()]
        .filter((name) => !names.has(name))
        .map((name) => `${definition.split('.').slice(-3).join('.')}.${name}`)
    })
    assert.deepEqual(without, [])
  })

  test('decode what was encoded with them, for every type', () => {
    const messages = new MessageDecoder(protobufNumbers)
    for (const type of known) {
      const { value, bytes } = sampleStruct(type, 3)
      assert.deepEqual(messages.decode(type, bytes), value, type.definition)
    }
  })

  test('encode what is decoded with them, for every type', () => {
    const messages = new MessageDecoder(protobufNumbers)
    const encoder = new MessageEncoder(protobufNumbers)
    // Definitions of custom resources are never stored as protobuf.
    for (const type of known.filter(({ definition }) => !definition.includes('apiextensions'))) {
      const { value } = sampleStruct(type, 3)
      // Some types have a field of this name.
      const kind = typeof value.kind === 'string' ? value.kind : type.goName
      const { raw } = openEnvelope(encoder.encode(type, { apiVersion: 'test/v1', ...value, kind }))
      const canonical = (object: unknown): unknown => decode(type, structuredClone(object)).object
      assert.deepEqual(canonical(messages.decode(type, raw)), canonical(value), type.definition)
    }
  })
})
