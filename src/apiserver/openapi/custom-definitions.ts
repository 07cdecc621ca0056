/** Definitions of custom resources: their own schemas with type and metadata added, and their lists. */
import type { ResourceDefinition } from '../../api/resource.ts'
import { descriptionsOf, schemaOf } from '../../api/schema/index.ts'
import { setOwn } from '../../lib/own.ts'
import { type Flavour, type JsonSchema, metaPackage, referenceTo } from './json-schema.ts'
import { kindDefinition } from './operations.ts'

/** Keywords that OpenAPI v2 does not have; readers of v2 would refuse the document. */
const missingInV2 = new Set(['nullable', 'oneOf', 'anyOf', 'not', 'default', 'x-kubernetes-validations'])

function forV2(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(forV2)
  if (typeof schema !== 'object' || schema === null) return schema
  const source = schema as JsonSchema
  const result: JsonSchema = {}
  for (const [key, value] of Object.entries(source)) {
    if (missingInV2.has(key)) continue
    if (key === 'properties') result.properties = Object.fromEntries(Object.entries(value as JsonSchema).map(([name, property]) => [name, forV2(property)]))
    else if (key === 'items' || key === 'additionalProperties') result[key] = forV2(value)
    else setOwn(result, key, value)
  }
  // A node that keeps unknown fields or may be null, or a string, has no type that v2 could name.
  if (source['x-kubernetes-preserve-unknown-fields'] || source['x-kubernetes-int-or-string'] || source.nullable) {
    delete result.type
    delete result.properties
    delete result.items
    delete result.additionalProperties
    delete result.required
  }
  return result
}

const intOrString = [{ type: 'integer' }, { type: 'string' }]

/** What may be a number or a text says so in OpenAPI's own words too. */
function forV3(schema: unknown): unknown {
  if (typeof schema !== 'object' || schema === null) return schema
  const result: JsonSchema = { ...(schema as JsonSchema) }
  if (result.properties) result.properties = Object.fromEntries(Object.entries(result.properties).map(([name, property]) => [name, forV3(property)]))
  for (const key of ['items', 'additionalProperties']) if (Object.hasOwn(result, key)) result[key] = forV3(result[key])
  if (result['x-kubernetes-int-or-string'] && !result.anyOf && !result.allOf) result.anyOf = intOrString
  return result
}

const typeText = (name: 'apiVersion' | 'kind'): JsonSchema => ({ description: descriptionsOf('V1Status')[name], type: 'string' })

function metadata(of: 'ObjectMeta' | 'ListMeta', flavour: Flavour): JsonSchema {
  const reference = referenceTo(`${metaPackage}.${of}`, flavour)
  const description = of === 'ObjectMeta' ? "Standard object's metadata." : 'Standard list metadata.'
  return flavour === 'v2' ? { description, ...reference } : { allOf: [reference], description }
}

/** The definitions of a resource that has no schema of Kubernetes' own, by name. */
export function customDefinitions(resource: ResourceDefinition, flavour: Flavour): [name: string, schema: JsonSchema][] {
  if (schemaOf(resource)) return []
  const { group, version, kind, listKind = `${kind}List` } = resource
  const own = resource.custom?.schema()
  const converted = own && ((flavour === 'v2' ? forV2(own) : forV3(own)) as JsonSchema)
  const described = { apiVersion: typeText('apiVersion'), kind: typeText('kind') }
  const definition = kindDefinition(resource)
  const hasShape = converted !== undefined && 'properties' in converted
  const object = {
    type: 'object',
    ...converted,
    ...(hasShape && { properties: { ...described, metadata: metadata('ObjectMeta', flavour), ...withoutType(converted.properties as JsonSchema) } }),
    'x-kubernetes-group-version-kind': [{ group, kind, version }],
  }
  const list = {
    description: `${listKind} is a list of ${kind}`,
    type: 'object',
    required: ['items'],
    properties: {
      ...described,
      items: { description: `List of ${resource.plural}.`, type: 'array', items: referenceTo(definition, flavour) },
      metadata: metadata('ListMeta', flavour),
    },
    'x-kubernetes-group-version-kind': [{ group, kind: listKind, version }],
  }
  return [
    [definition, object],
    [`${definition}List`, list],
  ]
}

/** Type and metadata are published as they are for all objects, whatever the custom schema says of them. */
function withoutType({ apiVersion: _, kind: _kind, metadata: _metadata, ...properties }: JsonSchema): JsonSchema {
  return properties
}
