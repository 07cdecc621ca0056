/**
 * The CEL types of a structural schema for rules, with the maximum sizes of values in a request of at most 3 MB. Fields
 * that the schema does not specify (`x-kubernetes-preserve-unknown-fields`) are hidden.
 */
import type { StructuralSchema } from '../../machinery/structural-schema/index.ts'
import { escapeFieldName } from '../index.ts'
import {
  boolType,
  bytesType,
  doubleType,
  durationType,
  dynType,
  type Field,
  intType,
  type ListIdentity,
  listType,
  mapType,
  type ObjectType,
  sized,
  stringType,
  type Type,
  timestampType,
} from '../types.ts'

/** The limit of a request body, in bytes. */
export const maxRequestBytes = 3 * 1024 * 1024
/** The limit of the content without two brackets or quotation marks. */
const maxContentBytes = maxRequestBytes - 2

/** Upstream has sizes for some types only. The others count as empty. */
const unsized = 0
const int = sized(intType, unsized)
const double = sized(doubleType, unsized)
const bool = sized(boolType, unsized)
const mapKey = sized(stringType, unsized)
const duration = sized(durationType, 32)
const date = sized(timestampType, 12)
const dateTime = sized(timestampType, 32)

/** The minimum number of bytes of a type in JSON. */
const bytes = {
  number: 1,
  boolean: 4,
  string: 2,
  duration: 3,
  date: 12,
  dateTime: 21,
  list: 2,
  object: 2,
  intOrString: 1,
} as const

/**
 * Returns the type of a schema's values, or undefined if expressions cannot access them. `resource` is true for the
 * root of a resource, which has `apiVersion`, `kind` and names. `name` is the type's name in messages.
 */
export function declaredType(schema: StructuralSchema, resource: boolean, name: string): Type | undefined {
  return minBytes(schema, resource) === undefined
    ? undefined
    : visibleType(resource ? withTypeAndNames(schema) : schema, name)
}

function visibleType(schema: StructuralSchema, name: string): Type {
  const { keywords, items, others } = schema
  if (schema.intOrString) return sized(dynType, given(keywords.maxLength, 4) ?? maxContentBytes)
  switch (schema.type) {
    case 'array': {
      const element = items && declaredType(items, items.embedded, `${name}.@idx`)
      const most =
        given(keywords.maxItems) ??
        Math.floor(maxContentBytes / ((items ? (minBytes(items, items.embedded) ?? 0) : 0) + 1))
      const list = listType(element ?? dynType, most)
      const identity = identityOf(schema)
      return identity ? { ...list, identity } : list
    }
    case 'object': {
      if (typeof others !== 'object') return new DeclaredObject(name, schema)
      // The minimum of a member: a key with quotation marks, colon and comma, and the value.
      const most =
        given(keywords.maxProperties) ?? Math.floor(maxContentBytes / ((minBytes(others, others.embedded) ?? 0) + 6))
      return mapType(mapKey, declaredType(others, others.embedded, `${name}.@elem`) ?? dynType, most)
    }
    case 'string':
      return textType(schema)
    case 'boolean':
      return bool
    case 'number':
      return double
    default:
      return int
  }
}

function textType({ keywords }: StructuralSchema): Type {
  switch (keywords.format) {
    case 'byte':
      return sized(bytesType, given(keywords.maxLength) ?? maxContentBytes)
    case 'duration':
      return duration
    case 'date':
      return date
    case 'date-time':
      return dateTime
    default:
      // A character has up to four bytes.
      return sized(stringType, given(keywords.maxLength, 4) ?? longestOf(keywords.enum) ?? maxContentBytes)
  }
}

/** Returns a limit, at least 0, or undefined if there is none. */
const given = (limit: number | null | undefined, factor = 1): number | undefined =>
  limit === undefined || limit === null ? undefined : Math.max(0, limit) * factor

const longestOf = (values: readonly unknown[] | undefined): number | undefined =>
  values?.length
    ? Math.max(0, ...values.map((value) => (typeof value === 'string' ? Buffer.byteLength(value) : 0)))
    : undefined

function identityOf({ keywords }: StructuralSchema): ListIdentity | undefined {
  const { 'x-kubernetes-list-type': listKind, 'x-kubernetes-list-map-keys': keys = [] } = keywords
  if (listKind === 'set') return { kind: 'set' }
  return listKind === 'map' ? { kind: 'keys', keys: keys.map((key) => escapeFieldName(key) ?? key) } : undefined
}

/** An object type that creates the types of its fields on first use: expressions use few of them. */
class DeclaredObject implements ObjectType {
  readonly kind = 'object'
  readonly name: string
  readonly maxElements = unsized
  private schema: StructuralSchema | undefined
  private made: ReadonlyMap<string, Field> | undefined

  constructor(name: string, schema: StructuralSchema) {
    this.name = name
    this.schema = schema
  }
  get fields(): ReadonlyMap<string, Field> {
    if (!this.made) {
      this.made = fieldsOf(this.schema, this.name)
      this.schema = undefined
    }
    return this.made
  }
}

function fieldsOf(schema: StructuralSchema | undefined, name: string): ReadonlyMap<string, Field> {
  const fields = new Map<string, Field>()
  for (const [property, below] of schema?.properties ?? []) {
    const escaped = escapeFieldName(property)
    if (escaped !== undefined && minBytes(below, below.embedded) !== undefined)
      fields.set(escaped, new DeclaredField(below, `${name}.${escaped}`, property))
  }
  return fields
}

class DeclaredField implements Field {
  readonly property: string
  private readonly schema: StructuralSchema
  private readonly name: string
  private made: Type | undefined

  constructor(schema: StructuralSchema, name: string, property: string) {
    this.schema = schema
    this.name = name
    this.property = property
  }
  get type(): Type {
    return (this.made ??= declaredType(this.schema, this.schema.embedded, this.name) ?? dynType)
  }
}

const sizes = new WeakMap<StructuralSchema, number | null>()

/** Returns the minimum number of bytes of a value in JSON, or undefined if expressions cannot access it. */
export function minBytes(schema: StructuralSchema, resource: boolean): number | undefined {
  const shown = resource ? withTypeAndNames(schema) : schema
  let known = sizes.get(shown)
  if (known === undefined) sizes.set(shown, (known = measured(shown) ?? null))
  return known ?? undefined
}

function measured(schema: StructuralSchema): number | undefined {
  const { items, others, keywords } = schema
  if (schema.intOrString) return bytes.intOrString
  switch (schema.type) {
    case 'array':
      return items && minBytes(items, items.embedded) !== undefined ? bytes.list : undefined
    case 'object':
      if (typeof others === 'object') return minBytes(others, others.embedded) === undefined ? undefined : bytes.object
      return objectBytes(schema)
    case 'string':
      if (keywords.format === 'duration') return bytes.duration
      if (keywords.format === 'date') return bytes.date
      return keywords.format === 'date-time' ? bytes.dateTime : bytes.string
    case 'boolean':
      return bytes.boolean
    case 'number':
    case 'integer':
      return bytes.number
    default:
      return undefined
  }
}

/** Returns the minimum for the required fields without a default: name, quotation marks, colon, comma and value. */
function objectBytes({ properties, keywords }: StructuralSchema): number {
  let sum: number = bytes.object
  for (const name of new Set(keywords.required)) {
    const below = properties?.get(name)
    const least = below && below.default === undefined ? minBytes(below, below.embedded) : undefined
    if (least !== undefined) sum += Buffer.byteLength(name) + least + 4
  }
  return sum
}

const bare: Omit<StructuralSchema, 'type'> = {
  keywords: {},
  nullable: false,
  preserves: false,
  embedded: false,
  intOrString: false,
  default: undefined,
  items: undefined,
  properties: undefined,
  others: undefined,
  allOf: undefined,
  anyOf: undefined,
  oneOf: undefined,
  not: undefined,
  has: { defaults: false, embedded: false, listTypes: false, rules: false },
}
const text: StructuralSchema = { ...bare, type: 'string' }
const names: StructuralSchema = {
  ...bare,
  type: 'object',
  properties: new Map(['name', 'generateName'].map((name) => [name, text])),
}

const resources = new WeakMap<StructuralSchema, StructuralSchema>()

/**
 * Adds `apiVersion`, `kind` and names to the schema of a resource. The schema's own properties for them are used only
 * if all of them are specified.
 */
function withTypeAndNames(schema: StructuralSchema): StructuralSchema {
  const known = resources.get(schema)
  if (known) return known
  const { properties } = schema
  const metadata = properties?.get('metadata')
  const complete =
    ['kind', 'apiVersion'].every((name) => properties?.get(name)?.type === 'string') &&
    metadata?.type === 'object' &&
    ['name', 'generateName'].every((name) => metadata.properties?.get(name)?.type === 'string')
  const made = complete
    ? schema
    : {
        ...schema,
        properties: new Map([
          ...(properties ?? []),
          ['kind', text] as const,
          ['apiVersion', text] as const,
          ['metadata', names] as const,
        ]),
      }
  resources.set(schema, made)
  return made
}
