import assert from 'node:assert/strict'
import { test } from 'node:test'
import { resource } from '../../../api/resource.ts'
import { customDefinitions } from './custom-definitions.ts'
import type { Flavour } from './json-schema.ts'

/** The published definition of a kind; type and metadata are replaced by placeholders. */
function published(flavour: Flavour, schema: Record<string, unknown>, more: object = {}): unknown {
  const custom = {
    fingerprint: '',
    type: () => assert.fail('not needed'),
    prune: () => [],
    decodeError: () => undefined,
    schema: () => schema,
  }
  const definition = resource({
    group: 'example.com',
    version: 'v1',
    kind: 'Foo',
    plural: 'foos',
    scope: 'Namespaced',
    custom,
    ...more,
  })
  const [[, whole] = []] = customDefinitions(definition, flavour)
  const { 'x-kubernetes-group-version-kind': _, ...rest } = whole ?? {}
  const ofEveryObject = new Set(['apiVersion', 'kind', 'metadata'])
  return JSON.parse(JSON.stringify(rest, (key, value) => (ofEveryObject.has(key) ? 'as of every object' : value)))
}

const everyObject = { apiVersion: 'as of every object', kind: 'as of every object', metadata: 'as of every object' }
const preserving = { 'x-kubernetes-preserve-unknown-fields': true }
const spec = (schema: object): Record<string, unknown> => ({ type: 'object', properties: { spec: schema } })
const string = { type: 'string' }

test('a schema that preserves unknown fields at its root has no properties in v2', () => {
  const schema = { description: 'Free.', type: 'object', ...preserving, properties: { spec: string } }
  assert.deepEqual(published('v2', schema), { type: 'object' })
  assert.deepEqual(published('v3', schema), { ...schema, properties: { ...everyObject, spec: string } })
})

test('v2 omits unsupported keywords, and those that make kubectl reject valid objects', () => {
  const shape = { properties: { a: string }, required: ['a'] }
  for (const [given, expected] of [
    [
      { type: 'object', ...preserving, ...shape },
      { ...preserving, required: ['a'] },
    ],
    [{ type: 'array', ...preserving, items: string }, preserving],
    [{ type: 'object', nullable: true, ...shape }, { required: ['a'] }],
    [
      { type: 'object', properties: { a: { ...string, nullable: true }, b: string }, required: ['a', 'b'] },
      { type: 'object', properties: { a: {}, b: string }, required: ['b'] },
    ],
    [
      { ...string, allOf: [{ minLength: 1 }], anyOf: [{}], default: 'a', maxLength: 3 },
      { ...string, maxLength: 3 },
    ],
  ] as const)
    assert.deepEqual(published('v2', spec(given)), { type: 'object', properties: { ...everyObject, spec: expected } })
})

test('embedded resources have type and metadata', () => {
  const template = { type: 'object', 'x-kubernetes-embedded-resource': true, properties: { spec: string } }
  const expected = { ...template, required: ['kind', 'apiVersion'], properties: { spec: string, ...everyObject } }
  for (const flavour of ['v2', 'v3'] as const)
    assert.deepEqual(published(flavour, spec(template)), {
      type: 'object',
      properties: { ...everyObject, spec: expected },
    })
  const free = { 'x-kubernetes-embedded-resource': true, ...preserving }
  assert.deepEqual(published('v2', spec({ type: 'object', ...free })), {
    type: 'object',
    properties: { ...everyObject, spec: free },
  })
})

test('selectable fields are published', () => {
  const selectableFields = { host: () => undefined, 'spec.port': () => undefined }
  for (const flavour of ['v2', 'v3'] as const)
    assert.deepEqual(published(flavour, { type: 'object' }, { selectableFields }), {
      type: 'object',
      properties: everyObject,
      'x-kubernetes-selectable-fields': [{ fieldPath: 'host' }, { fieldPath: 'spec.port' }],
    })
})
