/** The type of custom objects for apply and managed fields, with the granularity of lists and maps. */
import type { Field, FieldType, StructType } from '../schema.ts'
import { objectMetaType } from './embedded/object-meta.ts'
import type { StructuralSchema } from './schema.ts'

export interface TypeNames {
  readonly group: string
  readonly version: string
  readonly kind: string
  /** ObjectMeta's type. */
  readonly metadata: StructType
  /** Name in OpenAPI. Default: composed of group, version and kind. */
  readonly definition?: string
}

/** Returns the type of a definition's objects. */
export function structType(
  schema: StructuralSchema,
  { group, version, kind, metadata, definition }: TypeNames,
): StructType {
  const fields = fieldsOf(schema)
  for (const name of ['apiVersion', 'kind']) fields.set(name, keepEmpty({ type: { kind: 'string' } }))
  fields.set('metadata', keepEmpty({ type: metadata }))
  return {
    kind: 'struct',
    definition: definition ?? [...group.split('.').reverse(), version, kind].join('.'),
    goName: kind,
    fields,
    ...othersIn(schema),
    required: new Set(schema.keywords.required),
    atomic: false,
    groupVersionKinds: [{ group, version, kind }],
  }
}

/** Custom objects retain empty fields. */
const keepEmpty = (field: Omit<Field, 'keepsEmpty'>): Field => ({ ...field, keepsEmpty: true })

/** Free-form JSON, granular. */
const deduced: FieldType = { kind: 'any', deduced: true }

function fieldsOf(schema: StructuralSchema): Map<string, Field> {
  return new Map([...(schema.properties ?? [])].map(([name, property]) => [name, fieldOf(property)]))
}

function othersIn({ others, preserves, properties, embedded }: StructuralSchema): { readonly others?: FieldType } {
  if (typeof others === 'object') return { others: typeOf(others) }
  if (others === true || preserves) return { others: deduced }
  // Pruning has removed all fields of an object without specified properties.
  return properties || embedded ? {} : { others: deduced }
}

const fieldCache = new WeakMap<StructuralSchema, Field>()

/** Returns the field of a schema. Cached, because equal schemas are shared. */
function fieldOf(schema: StructuralSchema): Field {
  let field = fieldCache.get(schema)
  if (!field) fieldCache.set(schema, (field = makeField(schema)))
  return field
}

function makeField(schema: StructuralSchema): Field {
  const { keywords } = schema
  const type = typeOf(schema)
  const listType = keywords['x-kubernetes-list-type']
  const mapType = keywords['x-kubernetes-map-type']
  return keepEmpty({
    type,
    ...(type.kind === 'array' && (listType === 'set' || listType === 'map' || listType === 'atomic') && { listType }),
    ...(type.kind === 'array' && listType === 'map' && { listMapKeys: keywords['x-kubernetes-list-map-keys'] ?? [] }),
    ...((mapType === 'atomic' || mapType === 'granular') && { mapType }),
    ...(schema.default !== undefined && { default: schema.default }),
  })
}

function typeOf(schema: StructuralSchema): FieldType {
  if (schema.intOrString) return { kind: 'int-or-string' }
  switch (schema.type) {
    case 'string':
      return { kind: 'string' }
    case 'boolean':
      return { kind: 'boolean' }
    case 'integer':
      return { kind: 'integer', format: schema.keywords.format === 'int32' ? 'int32' : 'int64' }
    case 'number':
      return { kind: 'number' }
    case 'array':
      return { kind: 'array', items: schema.items ? typeOf(schema.items) : deduced }
    case 'object':
      return objectType(schema)
    default:
      return deduced
  }
}

function objectType(schema: StructuralSchema): FieldType {
  const atomic = schema.keywords['x-kubernetes-map-type'] === 'atomic'
  if (!schema.properties && !schema.embedded) {
    if (schema.preserves || typeof schema.others !== 'object') return atomic ? { kind: 'any' } : deduced
    const values = typeOf(schema.others)
    if (!atomic) return { kind: 'map', values }
  }
  const fields = fieldsOf(schema)
  if (schema.embedded) {
    for (const name of ['apiVersion', 'kind']) fields.set(name, keepEmpty({ type: { kind: 'string' } }))
    fields.set('metadata', keepEmpty({ type: objectMetaType }))
  }
  return {
    kind: 'struct',
    definition: '',
    goName: '',
    fields,
    ...othersIn(schema),
    required: new Set(schema.keywords.required),
    atomic,
    groupVersionKinds: [],
  }
}
