/** Definitions of custom resources, with type and metadata added to their schemas, and of their lists. */
import type { ResourceDefinition } from '../../../api/resource.ts'
import { descriptionsOf, schemaOf } from '../../../api/schema/index.ts'
import { setOwn } from '../../../lib/own.ts'
import { type Flavour, type JsonSchema, metaPackage, referenceTo } from './json-schema.ts'
import { kindDefinition, listDefinition } from './names.ts'

/** Keywords that OpenAPI v2 does not have; parsers of v2 would reject the document. */
const missingInV2 = new Set(['nullable', 'allOf', 'oneOf', 'anyOf', 'not', 'default', 'x-kubernetes-validations'])

const preserves = (schema: JsonSchema | undefined): boolean => schema?.['x-kubernetes-preserve-unknown-fields'] === true

function forV2(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(forV2)
  if (typeof schema !== 'object' || schema === null) return schema
  const source = schema as JsonSchema
  const result: JsonSchema = {}
  for (const [key, value] of Object.entries(source)) {
    if (missingInV2.has(key)) continue
    if (key === 'properties')
      result.properties = Object.fromEntries(
        Object.entries(value as JsonSchema).map(([name, property]) => [name, forV2(property)]),
      )
    else if (key === 'items' || key === 'additionalProperties') result[key] = forV2(value)
    else if (key === 'required') setRequired(result, source)
    else setOwn(result, key, value)
  }
  // v2 has no type for a node that preserves unknown fields or is nullable, and kubectl rejects fields that are not in
  // `properties`.
  if (preserves(source) || source.nullable) {
    delete result.items
    delete result.properties
  }
  const isOpen = preserves(source) && (result.type === 'object' || result.type === 'array')
  if (isOpen || source.nullable || (result.type === 'array' && !result.items)) delete result.type
  return result
}

/** v2 has no `nullable`, so nullable fields are not required there. */
function setRequired(result: JsonSchema, { required, properties, additionalProperties }: JsonSchema): void {
  const isNullable = (one: unknown): boolean =>
    typeof one === 'object' && one !== null && (one as JsonSchema).nullable === true
  if (isNullable(additionalProperties)) return
  const names = (required as readonly string[]).filter(
    (name) => !isNullable((properties as JsonSchema | undefined)?.[name]),
  )
  if (names.length > 0) result.required = names
}

const intOrString = [{ type: 'integer' }, { type: 'string' }]

/** Adds `anyOf` to int-or-string fields. */
function forV3(schema: unknown): unknown {
  if (typeof schema !== 'object' || schema === null) return schema
  const result: JsonSchema = { ...(schema as JsonSchema) }
  if (result.properties)
    result.properties = Object.fromEntries(
      Object.entries(result.properties).map(([name, property]) => [name, forV3(property)]),
    )
  for (const key of ['items', 'additionalProperties']) if (Object.hasOwn(result, key)) result[key] = forV3(result[key])
  if (result['x-kubernetes-int-or-string'] && !result.anyOf && !result.allOf) result.anyOf = intOrString
  return result
}

const typeText = (name: 'apiVersion' | 'kind'): JsonSchema => ({
  description: descriptionsOf('V1Status')[name],
  type: 'string',
})

function metadata(of: 'ObjectMeta' | 'ListMeta', flavour: Flavour): JsonSchema {
  const reference = referenceTo(`${metaPackage}.${of}`, flavour)
  const description = of === 'ObjectMeta' ? "Standard object's metadata." : 'Standard list metadata.'
  return flavour === 'v2' ? { description, ...reference } : { allOf: [reference], description }
}

const described = { apiVersion: typeText('apiVersion'), kind: typeText('kind') }

/** Adds type and metadata to embedded resources (`x-kubernetes-embedded-resource`). */
function withEmbedded(schema: unknown, flavour: Flavour): unknown {
  if (typeof schema !== 'object' || schema === null) return schema
  const result: JsonSchema = { ...(schema as JsonSchema) }
  if (result.properties)
    result.properties = Object.fromEntries(
      Object.entries(result.properties).map(([name, one]) => [name, withEmbedded(one, flavour)]),
    )
  for (const key of ['items', 'additionalProperties'])
    if (Object.hasOwn(result, key)) result[key] = withEmbedded(result[key], flavour)
  if (result['x-kubernetes-embedded-resource'] !== true || (flavour === 'v2' && preserves(result))) return result
  const required = [...new Set([...((result.required as readonly string[] | undefined) ?? []), 'kind', 'apiVersion'])]
  return {
    ...result,
    required,
    properties: { ...(result.properties as JsonSchema), ...described, metadata: metadata('ObjectMeta', flavour) },
  }
}

/** The definitions of a resource without a built-in schema, by name. */
export function customDefinitions(
  resource: ResourceDefinition,
  flavour: Flavour,
): [name: string, schema: JsonSchema][] {
  if (schemaOf(resource)) return []
  const { group, version, kind, listKind = `${kind}List`, selectableFields } = resource
  const source = resource.custom?.schema() ?? resource.schema
  // kubectl would reject all fields that are not in the schema.
  const own = flavour === 'v2' && preserves(source) ? undefined : source
  const converted = own && (withEmbedded(flavour === 'v2' ? forV2(own) : forV3(own), flavour) as JsonSchema)
  const definition = kindDefinition(resource)
  const selectable = selectableFields && {
    'x-kubernetes-selectable-fields': Object.keys(selectableFields).map((fieldPath) => ({ fieldPath })),
  }
  const object = {
    type: 'object',
    ...converted,
    ...(converted && {
      properties: {
        ...described,
        metadata: metadata('ObjectMeta', flavour),
        ...withoutType((converted.properties ?? {}) as JsonSchema),
      },
    }),
    'x-kubernetes-group-version-kind': [{ group, kind, version }],
    ...selectable,
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
    ...selectable,
  }
  return [
    [definition, object],
    [listDefinition(resource), list],
  ]
}

/** Removes type and metadata: they are published as for all objects. */
function withoutType({ apiVersion: _, kind: _kind, metadata: _metadata, ...properties }: JsonSchema): JsonSchema {
  return properties
}
