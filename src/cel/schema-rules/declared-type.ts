/**
 * The types that rules see: those of CEL for a structural schema, with the sizes that its values can have in a request
 * of 3 MB at most. What a schema says nothing about (`x-kubernetes-preserve-unknown-fields`) is hidden.
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

/** The most that a request may bring, in bytes. */
export const maxRequestBytes = 3 * 1024 * 1024
/** Brackets and quotation marks are two of them. */
const maxContentBytes = maxRequestBytes - 2

/** Upstream gives sizes to some types only; the others count as empty. */
const unsized = 0
const int = sized(intType, unsized)
const double = sized(doubleType, unsized)
const bool = sized(boolType, unsized)
const mapKey = sized(stringType, unsized)
const duration = sized(durationType, 32)
const date = sized(timestampType, 12)
const dateTime = sized(timestampType, 32)

/** The fewest bytes that JSON of a type takes. */
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
 * The type of a schema's values; undefined if expressions cannot see them. `resource`: the root of a resource, which
 * has `apiVersion`, `kind` and names. Objects are named after `name`, as messages show them.
 */
export function declaredType(schema: StructuralSchema, resource: boolean, name: string): Type | undefined {
  return leastBytes(schema, resource) === undefined
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
        Math.floor(maxContentBytes / ((items ? (leastBytes(items, items.embedded) ?? 0) : 0) + 1))
      const list = listType(element ?? dynType, most)
      const identity = identityOf(schema)
      return identity ? { ...list, identity } : list
    }
    case 'object': {
      if (typeof others !== 'object') return new DeclaredObject(name, schema)
      // A key, its quotation marks, colon and comma, beside the value.
      const most =
        given(keywords.maxProperties) ?? Math.floor(maxContentBytes / ((leastBytes(others, others.embedded) ?? 0) + 6))
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
      // A character may take four bytes.
      return sized(stringType, given(keywords.maxLength, 4) ?? longestOf(keywords.enum) ?? maxContentBytes)
  }
}

/** A limit, if there is one; negative ones are none at all. */
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

/** Makes the types of fields when they are asked for: expressions look at few of them. */
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
    if (escaped !== undefined && leastBytes(below, below.embedded) !== undefined)
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

/** The fewest bytes that a value takes in JSON; undefined for values that expressions cannot see. */
export function leastBytes(schema: StructuralSchema, resource: boolean): number | undefined {
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
      return items && leastBytes(items, items.embedded) !== undefined ? bytes.list : undefined
    case 'object':
      if (typeof others === 'object')
        return leastBytes(others, others.embedded) === undefined ? undefined : bytes.object
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

/** What has to be there and is not filled in: the name, its quotation marks, colon, comma and the value. */
function objectBytes({ properties, keywords }: StructuralSchema): number {
  let sum: number = bytes.object
  for (const name of new Set(keywords.required)) {
    const below = properties?.get(name)
    const least = below && below.default === undefined ? leastBytes(below, below.embedded) : undefined
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
 * The schema of a resource, with what all of them have. What a schema says about names counts only if it says it of
 * both.
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
