import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { fillDefaults, type SchemaSource, structuralSchema } from './index.ts'

const integer: SchemaSource = { type: 'integer', default: 1 }
const filled = (properties: Record<string, SchemaSource>, object: Record<string, unknown>): unknown => {
  fillDefaults(object, structuralSchema({ type: 'object', properties }))
  return object
}

describe('defaults', () => {
  test('are set where a field is absent, also inside other defaults', () => {
    const spec: SchemaSource = { type: 'object', default: { a: 2 }, properties: { a: integer, b: integer } }
    assert.deepEqual(filled({ spec }, {}), { spec: { a: 2, b: 1 } })
    assert.deepEqual(filled({ spec }, { spec: {} }), { spec: { a: 1, b: 1 } })
  })

  test('do not create the object that they are in', () =>
    assert.deepEqual(filled({ spec: { type: 'object', properties: { a: integer } } }, {}), {}))

  test('replace null if the field is not nullable', () => {
    assert.deepEqual(filled({ a: integer, b: { ...integer, nullable: true } }, { a: null, b: null }), { a: 1, b: null })
  })

  test('are set in items of lists and values of maps', () => {
    const item: SchemaSource = { type: 'object', properties: { a: integer } }
    const properties: Record<string, SchemaSource> = {
      list: { type: 'array', items: item },
      map: { type: 'object', additionalProperties: item },
    }
    assert.deepEqual(filled(properties, { list: [{}], map: { k: {} } }), { list: [{ a: 1 }], map: { k: { a: 1 } } })
  })

  test('are copied for each object', () => {
    const schema = structuralSchema({
      type: 'object',
      properties: { spec: { type: 'object', default: { list: [] }, 'x-kubernetes-preserve-unknown-fields': true } },
    })
    const [one, other]: { spec?: { list: number[] } }[] = [{}, {}]
    fillDefaults(one, schema)
    one?.spec?.list.push(1)
    fillDefaults(other, schema)
    assert.deepEqual(other, { spec: { list: [] } })
  })

  test('of null are ignored', () =>
    assert.deepEqual(filled({ a: { type: 'string', nullable: true, default: null } }, {}), {}))
})
