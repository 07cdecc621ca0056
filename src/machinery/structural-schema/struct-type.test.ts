import assert from 'node:assert/strict'
import { test } from 'node:test'
import { typedNode } from '../fields/typed-node.ts'
import { typeErrors } from '../fields/validate-typed.ts'
import { objectMetaType } from './embedded/object-meta.ts'
import { type SchemaSource, structType, structuralSchema } from './index.ts'

const string: SchemaSource = { type: 'string' }
const typeOf = (properties: Record<string, SchemaSource>) =>
  structType(structuralSchema({ type: 'object', properties }), {
    group: 'example.com',
    version: 'v1',
    kind: 'Thing',
    metadata: objectMetaType,
  })

test('lists and maps have the granularity that the schema specifies', () => {
  const keyed: SchemaSource = {
    type: 'array',
    'x-kubernetes-list-type': 'map',
    'x-kubernetes-list-map-keys': ['name', 'proto'],
    items: { type: 'object', properties: { name: string, proto: { ...string, default: 'tcp' } } },
  }
  const { fields } = typedNode(
    typeOf({
      keyed,
      set: { type: 'array', 'x-kubernetes-list-type': 'set', items: string },
      list: { type: 'array', items: string },
      atomic: { type: 'object', 'x-kubernetes-map-type': 'atomic', properties: { a: string } },
      atomicMap: { type: 'object', 'x-kubernetes-map-type': 'atomic', additionalProperties: string },
      map: { type: 'object', additionalProperties: string },
      free: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true },
      any: { 'x-kubernetes-preserve-unknown-fields': true },
      port: { 'x-kubernetes-int-or-string': true },
    }),
  )
  const kinds = Object.fromEntries([...fields].map(([name, { node }]) => [name, node.kind]))
  assert.deepEqual(kinds, {
    keyed: 'list',
    set: 'set',
    list: 'leaf',
    atomic: 'leaf',
    atomicMap: 'leaf',
    map: 'map',
    free: 'deduced',
    any: 'deduced',
    port: 'leaf',
    apiVersion: 'leaf',
    kind: 'leaf',
    metadata: 'struct',
  })
  const node = fields.get('keyed')?.node
  assert.deepEqual(node?.kind === 'list' && node.keys.map(({ name, default: initial }) => [name, initial]), [
    ['name', undefined],
    ['proto', 'tcp'],
  ])
})

test('applied objects are validated against the type', () => {
  const embedded: SchemaSource = {
    type: 'object',
    'x-kubernetes-embedded-resource': true,
    properties: { spec: { type: 'object', properties: { a: string } } },
  }
  const type = typeOf({ embedded, port: { 'x-kubernetes-int-or-string': true } })
  assert.deepEqual(
    typeErrors(
      {
        apiVersion: 'example.com/v1',
        kind: 'Thing',
        metadata: { name: 'a' },
        embedded: { metadata: { labels: { a: 'b' } }, spec: { a: 'x' } },
        port: '80%',
      },
      type,
    ),
    [],
  )
  assert.deepEqual(typeErrors({ embedded: { spec: { b: 1 } }, port: 80, more: 1 }, type), [
    '.embedded.spec.b: field not declared in schema',
    '.more: field not declared in schema',
  ])
})
