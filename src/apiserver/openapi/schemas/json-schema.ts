/** JSON schemas of definitions for OpenAPI v2 and v3. */
import { descriptionsOf, modelOfDefinition, schemaType } from '../../../api/schema/index.ts'
import type { Field, FieldType, StructType } from '../../../machinery/schema.ts'
import { inDeclaredOrder } from './declared-order.ts'
import { capital } from './names.ts'

export type JsonSchema = { [keyword: string]: unknown }

/** The OpenAPI version: they differ in the place of definitions and in the keywords allowed beside a reference. */
export type Flavour = 'v2' | 'v3'

export const metaPackage = 'io.k8s.apimachinery.pkg.apis.meta.v1'
const quantity = 'io.k8s.apimachinery.pkg.api.resource.Quantity'
const intOrString = 'io.k8s.apimachinery.pkg.util.intstr.IntOrString'
const rawExtension = 'io.k8s.apimachinery.pkg.runtime.RawExtension'
const extensions = 'io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1'

export const referenceTo = (definition: string, flavour: Flavour): JsonSchema => ({
  $ref: `#/${flavour === 'v2' ? 'definitions' : 'components/schemas'}/${definition}`,
})

/** Definitions that are not structs: the client's models have plain types for them. */
const plainDefinitions: Readonly<Record<string, Readonly<Record<Flavour, JsonSchema>>>> = {
  [`${metaPackage}.Time`]: both({
    description: 'An RFC 3339 timestamp with seconds.',
    type: 'string',
    format: 'date-time',
  }),
  [`${metaPackage}.MicroTime`]: both({
    description: 'An RFC 3339 timestamp with microseconds.',
    type: 'string',
    format: 'date-time',
  }),
  [`${metaPackage}.Patch`]: both({
    description: 'A change of an object, in one of the patch formats.',
    type: 'object',
  }),
  [`${metaPackage}.FieldsV1`]: both({ description: 'A set of fields as a trie in JSON.', type: 'object' }),
  [rawExtension]: both({ description: 'An object of any kind.', type: 'object' }),
  [quantity]: {
    v2: { description: 'A fixed-point number with a unit suffix, such as 500m or 2Gi.', type: 'string' },
    v3: {
      description: 'A fixed-point number with a unit suffix, such as 500m or 2Gi.',
      oneOf: [{ type: 'string' }, { type: 'number' }],
    },
  },
  [intOrString]: {
    v2: { description: 'A number or a string.', type: 'string', format: 'int-or-string' },
    v3: {
      description: 'A number or a string.',
      format: 'int-or-string',
      oneOf: [{ type: 'integer' }, { type: 'string' }],
    },
  },
  [`${extensions}.JSON`]: both({ description: 'Any JSON value.' }),
  [`${extensions}.JSONSchemaPropsOrArray`]: both({ description: 'A schema or a list of schemas.' }),
  [`${extensions}.JSONSchemaPropsOrBool`]: both({ description: 'A schema or a boolean.' }),
  [`${extensions}.JSONSchemaPropsOrStringArray`]: both({ description: 'A schema or a list of strings.' }),
  [`${extensions}.CustomResourceSubresourceStatus`]: both({
    description: 'Settings of the status subresource; there are none.',
    type: 'object',
  }),
}

function both(schema: JsonSchema): Record<Flavour, JsonSchema> {
  return { v2: schema, v3: schema }
}

/** Definitions of free-form fields. Default: RawExtension. */
const freeForm: Readonly<Record<string, string>> = {
  'ManagedFieldsEntry.fieldsV1': `${metaPackage}.FieldsV1`,
  'CustomResourceSubresources.status': `${extensions}.CustomResourceSubresourceStatus`,
  'JSONSchemaProps.additionalItems': `${extensions}.JSONSchemaPropsOrBool`,
  'JSONSchemaProps.additionalProperties': `${extensions}.JSONSchemaPropsOrBool`,
  'JSONSchemaProps.default': `${extensions}.JSON`,
  'JSONSchemaProps.enum': `${extensions}.JSON`,
  'JSONSchemaProps.example': `${extensions}.JSON`,
  'JSONSchemaProps.items': `${extensions}.JSONSchemaPropsOrArray`,
  'JSONSchemaProps.dependencies': `${extensions}.JSONSchemaPropsOrStringArray`,
}

/** The definition of a type; undefined for types that are inlined. */
function definitionOf(type: FieldType, place: string): string | undefined {
  switch (type.kind) {
    case 'struct':
      return type.definition
    case 'quantity':
      return quantity
    case 'int-or-string':
      return intOrString
    case 'any':
      return freeForm[place] ?? rawExtension
    case 'string':
      return type.format === 'date-time'
        ? `${metaPackage}.Time`
        : type.format === 'micro-time'
          ? `${metaPackage}.MicroTime`
          : undefined
    default:
      return undefined
  }
}

/** Fields without an upstream description: their references have no `allOf` in v3. */
const undescribed = new Set([
  'IngressRule.http',
  ...['additionalItems', 'additionalProperties', 'example', 'externalDocs', 'items', 'not'].map(
    (name) => `JSONSchemaProps.${name}`,
  ),
])

/** The reference of a field; v3 allows other keywords beside an `allOf` only. */
function fieldReference(definition: string, place: string, flavour: Flavour, more: JsonSchema): JsonSchema {
  const reference = referenceTo(definition, flavour)
  return flavour === 'v2' || undescribed.has(place) ? { ...more, ...reference } : { ...more, allOf: [reference] }
}

const zeros: Readonly<Record<string, unknown>> = { string: '', boolean: false, integer: 0, number: 0, struct: {} }

/** The default of a field for v3: its own, or the zero value if Go always writes the field. */
function defaultOf({ type, written, default: own }: Field, flavour: Flavour): JsonSchema {
  if (flavour === 'v2') return {}
  if (own !== undefined) return { default: own }
  return written && Object.hasOwn(zeros, type.kind) && !(type.kind === 'string' && type.format)
    ? { default: zeros[type.kind] }
    : {}
}

/** The schema of a type: inlined, or a reference. */
function typeSchema(
  type: FieldType,
  place: string,
  flavour: Flavour,
  values: readonly string[] | undefined,
): JsonSchema {
  const definition = definitionOf(type, place)
  if (definition) return referenceTo(definition, flavour)
  switch (type.kind) {
    case 'array':
      return { type: 'array', items: typeSchema(type.items, place, flavour, values) }
    case 'map':
      return { type: 'object', additionalProperties: typeSchema(type.values, place, flavour, values) }
    case 'integer':
      return { type: 'integer', format: type.format }
    case 'number':
      return { type: 'number', format: 'double' }
    case 'boolean':
      return { type: 'boolean' }
    default:
      return {
        type: 'string',
        ...(type.kind === 'string' && type.format === 'byte' && { format: 'byte' }),
        ...(values && { enum: values }),
      }
  }
}

function fieldSchema(field: Field, place: string, flavour: Flavour, description: string | undefined): JsonSchema {
  const more: JsonSchema = {
    ...(description && { description }),
    ...defaultOf(field, flavour),
    ...(field.listType && { 'x-kubernetes-list-type': field.listType }),
    ...(field.listMapKeys && { 'x-kubernetes-list-map-keys': field.listMapKeys }),
    ...(field.mapType && { 'x-kubernetes-map-type': field.mapType }),
    ...(field.patchStrategy && { 'x-kubernetes-patch-strategy': field.patchStrategy.join(',') }),
    ...(field.patchMergeKey && { 'x-kubernetes-patch-merge-key': field.patchMergeKey }),
  }
  const definition = definitionOf(field.type, place)
  return definition
    ? fieldReference(definition, place, flavour, more)
    : { ...more, ...typeSchema(field.type, place, flavour, field.enum) }
}

const unionSchema = ({ discriminator, fields }: NonNullable<StructType['union']>): JsonSchema => ({
  ...(discriminator && { discriminator }),
  'fields-to-discriminateBy': Object.fromEntries(fields.map((name) => [name, capital(name)])),
})

/** The schema of a struct, with descriptions of its fields and the extensions for apply and patches. */
function structSchema(type: StructType, model: string, flavour: Flavour): JsonSchema {
  const descriptions = descriptionsOf(model)
  const properties: JsonSchema = {}
  for (const [name, field] of [...type.fields].sort(([a], [b]) => (a < b ? -1 : 1)))
    properties[name] = fieldSchema(field, `${type.goName}.${name}`, flavour, descriptions[name])
  return {
    ...(descriptions[''] && { description: descriptions[''] }),
    type: 'object',
    ...(type.required.size > 0 && { required: inDeclaredOrder(type) }),
    ...(Object.keys(properties).length > 0 && { properties }),
    ...(type.groupVersionKinds.length > 0 && { 'x-kubernetes-group-version-kind': type.groupVersionKinds }),
    ...(type.atomic && { 'x-kubernetes-map-type': 'atomic' }),
    ...(type.union && { 'x-kubernetes-unions': [unionSchema(type.union)] }),
  }
}

const finished: Record<Flavour, Map<string, JsonSchema>> = { v2: new Map(), v3: new Map() }

/** The schema of a built-in definition by its name; undefined for other names. */
export function definitionSchema(definition: string, flavour: Flavour): JsonSchema | undefined {
  let schema = finished[flavour].get(definition)
  if (!schema) {
    const model = modelOfDefinition(definition)
    schema =
      model === undefined ? plainDefinitions[definition]?.[flavour] : structSchema(schemaType(model), model, flavour)
    if (schema) finished[flavour].set(definition, schema)
  }
  return schema
}

/** Names of the definitions that a schema refers to. */
export function referencesOf(schema: unknown, found: Set<string> = new Set()): Set<string> {
  if (Array.isArray(schema)) for (const item of schema) referencesOf(item, found)
  else if (typeof schema === 'object' && schema !== null) {
    for (const [key, value] of Object.entries(schema)) {
      if (key === '$ref' && typeof value === 'string') found.add(value.slice(value.lastIndexOf('/') + 1))
      else referencesOf(value, found)
    }
  }
  return found
}

/** All built-in definitions reachable from `roots`, sorted by name. */
export function definitionClosure(roots: Iterable<string>, flavour: Flavour): [name: string, schema: JsonSchema][] {
  const found = new Map<string, JsonSchema>()
  const waiting = [...roots]
  for (let name = waiting.pop(); name !== undefined; name = waiting.pop()) {
    if (found.has(name)) continue
    const schema = definitionSchema(name, flavour)
    if (!schema) continue
    found.set(name, schema)
    waiting.push(...referencesOf(schema))
  }
  return [...found].sort(([a], [b]) => (a < b ? -1 : 1))
}
