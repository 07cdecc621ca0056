import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import {
  dropNulls,
  embeddedDecodeFault,
  prune,
  type SchemaSource,
  type StructuralSchema,
  structuralSchema,
} from './index.ts'

const string: SchemaSource = { type: 'string' }
const pruned = (properties: Record<string, SchemaSource>, object: Record<string, unknown>): [string[], unknown] => {
  const paths = prune(object, structuralSchema({ type: 'object', properties }))
  return [paths, object]
}

describe('pruning', () => {
  test('removes unknown fields and returns their paths', () => {
    const list: SchemaSource = { type: 'array', items: { type: 'object', properties: { name: string } } }
    const object = { z: 1, list: [{ name: 'a', extra: 1 }], map: { k: { other: 2 } } }
    assert.deepEqual(pruned({ list, map: { type: 'object', additionalProperties: { type: 'object' } } }, object), [
      ['list[0].extra', 'map.k.other', 'z'],
      { list: [{ name: 'a' }], map: { k: {} } },
    ])
  })

  test('does not change apiVersion, kind and metadata of the root', () => {
    const object = { apiVersion: 'v1', kind: 'K', metadata: { bogus: 1 } }
    assert.deepEqual(pruned({}, structuredClone(object)), [[], object])
  })

  test('below x-kubernetes-preserve-unknown-fields prunes only inside specified fields', () => {
    const known: SchemaSource = { type: 'object', properties: { k: string } }
    const any: SchemaSource = { type: 'object', 'x-kubernetes-preserve-unknown-fields': true, properties: { known } }
    assert.deepEqual(pruned({ any }, { any: { x: { y: 1 }, known: { k: 'v', gone: 1 } } }), [
      ['any.known.gone'],
      { any: { x: { y: 1 }, known: { k: 'v' } } },
    ])
  })

  test('retains the fields of ObjectMeta in the metadata of an embedded resource', () => {
    const item: SchemaSource = {
      type: 'object',
      'x-kubernetes-embedded-resource': true,
      properties: { spec: { type: 'object' } },
    }
    const object = {
      item: { apiVersion: 'v1', kind: 'K', metadata: { name: 'e', bogus: 1 }, spec: { b: 1 }, status: {} },
    }
    assert.deepEqual(pruned({ item }, object), [
      ['item.spec.b', 'item.status', 'item.metadata.bogus'],
      { item: { apiVersion: 'v1', kind: 'K', metadata: { name: 'e' }, spec: {} } },
    ])
  })

  test('returns at most 100 paths', () => {
    const object = Object.fromEntries(Array.from({ length: 200 }, (_, i) => [`f${i}`, i]))
    assert.equal(prune(object, structuralSchema({ type: 'object' })).length, 100)
    assert.deepEqual(object, {})
  })

  test('removes fields that have the names of inherited properties', () => {
    const object = JSON.parse('{"constructor":1,"__proto__":{"a":1},"toString":2}')
    assert.deepEqual(prune(object, structuralSchema({ type: 'object', properties: { a: string } })), [
      '__proto__',
      'constructor',
      'toString',
    ])
  })
})

test('nulls of fields that are not nullable are removed, unless there is a default', () => {
  const properties = { a: string, b: { ...string, nullable: true }, c: { ...string, default: 'x' } }
  const object = { a: null, b: null, c: null, unknown: null }
  dropNulls(object, structuralSchema({ type: 'object', properties }))
  assert.deepEqual(object, { b: null, c: null, unknown: null })
})

test("invalid metadata of an embedded resource is rejected with the decoder's message", () => {
  const item: SchemaSource = {
    type: 'object',
    'x-kubernetes-embedded-resource': true,
    'x-kubernetes-preserve-unknown-fields': true,
  }
  const schema: StructuralSchema = structuralSchema({
    type: 'object',
    properties: { spec: { type: 'array', items: item } },
  })
  const object = { spec: [{ metadata: { name: 'a' } }, { metadata: { labels: { a: 1 } } }] }
  assert.deepEqual(prune(object, schema), [])
  assert.equal(embeddedDecodeFault({ spec: object.spec.slice(0, 1) }, schema), undefined)
  const { field, message } = embeddedDecodeFault(object, schema) ?? assert.fail('the object was accepted')
  assert.equal(field, 'spec[1].metadata')
  assert.match(message, /: json: cannot unmarshal number into Go struct field ObjectMeta.labels of type string$/)
})
