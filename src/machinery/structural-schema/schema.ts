/**
 * Structural schemas (KEP-1178), compiled for pruning, defaults and validation. Documentation is dropped, and equal
 * schemas within a definition are shared: many thousands of fields have a few hundred different schemas.
 */
import { writeJson } from '../../lib/exact-json.ts'
import { itemsOf, othersOf, propertiesOf, type SchemaSource } from './source.ts'

export interface StructuralSchema {
  /** The keywords of the schema, without documentation and without the schemas in it. */
  readonly keywords: Keywords
  /** Empty for schemas without a type. */
  readonly type: string
  readonly nullable: boolean
  /** `x-kubernetes-preserve-unknown-fields`. */
  readonly preserves: boolean
  /** `x-kubernetes-embedded-resource`. */
  readonly embedded: boolean
  /** `x-kubernetes-int-or-string`. */
  readonly intOrString: boolean
  /** Undefined if the default is missing or null. */
  readonly default: unknown
  readonly items: StructuralSchema | undefined
  readonly properties: ReadonlyMap<string, StructuralSchema> | undefined
  /** `additionalProperties`: the schema of other members, or a boolean that allows or forbids them. */
  readonly others: StructuralSchema | boolean | undefined
  readonly allOf: readonly StructuralSchema[] | undefined
  readonly anyOf: readonly StructuralSchema[] | undefined
  readonly oneOf: readonly StructuralSchema[] | undefined
  readonly not: StructuralSchema | undefined
  /** The features that occur here or below, so that a walk can skip the rest. */
  readonly has: {
    readonly defaults: boolean
    readonly embedded: boolean
    readonly listTypes: boolean
    readonly rules: boolean
  }
}

export type Keywords = Omit<
  SchemaSource,
  | 'title'
  | 'description'
  | 'externalDocs'
  | 'example'
  | 'items'
  | 'properties'
  | 'additionalProperties'
  | 'allOf'
  | 'anyOf'
  | 'oneOf'
  | 'not'
>

/** Compiles a valid schema. */
export function structuralSchema(source: SchemaSource): StructuralSchema {
  return new Compiler().compile(source)
}

/** Returns a compiler for schemas that have much in common, such as a definition's versions: they share equal parts. */
export function structuralSchemas(): (source: SchemaSource) => StructuralSchema {
  const compiler = new Compiler()
  return (source) => compiler.compile(source)
}

const noKeywords: Keywords = Object.freeze({})

/** Compiles schemas, and shares the compiled form of equal ones. */
class Compiler {
  readonly #compiled = new Map<string, StructuralSchema>()
  readonly #names = new Map<StructuralSchema, number>()

  compile(source: SchemaSource): StructuralSchema {
    const items = itemsOf(source)
    const others = othersOf(source)
    const schema = this.#finish(source, {
      items: items && this.compile(items),
      properties:
        source.properties && Object.keys(source.properties).length > 0
          ? new Map(propertiesOf(source).map(([name, it]) => [name, this.compile(it)]))
          : undefined,
      others: others
        ? this.compile(others)
        : typeof source.additionalProperties === 'boolean'
          ? source.additionalProperties
          : undefined,
      allOf: this.#all(source.allOf),
      anyOf: this.#all(source.anyOf),
      oneOf: this.#all(source.oneOf),
      not: source.not && this.compile(source.not),
    })
    const text = this.#text(schema)
    const same = this.#compiled.get(text)
    if (same) return same
    this.#compiled.set(text, schema)
    this.#names.set(schema, this.#names.size)
    return schema
  }

  #all(sources: readonly SchemaSource[] | undefined): readonly StructuralSchema[] | undefined {
    return sources?.length ? sources.map((source) => this.compile(source)) : undefined
  }

  #finish(source: SchemaSource, inner: Inner): StructuralSchema {
    const keywords = keywordsOf(source)
    const below = [...(inner.properties?.values() ?? [])]
    if (inner.items) below.push(inner.items)
    if (typeof inner.others === 'object') below.push(inner.others)
    const embedded = source['x-kubernetes-embedded-resource'] === true
    const listType = source['x-kubernetes-list-type']
    const initial = source.default ?? undefined
    return {
      keywords,
      type: source.type ?? '',
      nullable: source.nullable === true,
      preserves: source['x-kubernetes-preserve-unknown-fields'] === true,
      embedded,
      intOrString: source['x-kubernetes-int-or-string'] === true,
      default: initial,
      ...inner,
      has: flags(
        initial !== undefined || below.some(({ has }) => has.defaults),
        embedded || below.some(({ has }) => has.embedded),
        listType === 'set' || listType === 'map' || below.some(({ has }) => has.listTypes),
        (source['x-kubernetes-validations']?.length ?? 0) > 0 || below.some(({ has }) => has.rules),
      ),
    }
  }

  #name(schema: StructuralSchema | boolean | undefined): number | string {
    return typeof schema === 'object' ? (this.#names.get(schema) ?? -1) : String(schema)
  }

  /** Returns a text that is equal for equal schemas: their own keywords and the identities of the schemas in them. */
  #text({ keywords, items, properties, others, allOf, anyOf, oneOf, not }: StructuralSchema): string {
    const names = (list: readonly StructuralSchema[] | undefined): readonly (number | string)[] | 0 =>
      list?.map((it) => this.#name(it)) ?? 0
    const members = properties ? [...properties].map(([name, it]) => [name, this.#name(it)]) : 0
    return writeJson([
      keywords,
      this.#name(items),
      members,
      this.#name(others),
      names(allOf),
      names(anyOf),
      names(oneOf),
      this.#name(not),
    ])
  }
}

type Inner = Pick<StructuralSchema, 'items' | 'properties' | 'others' | 'allOf' | 'anyOf' | 'oneOf' | 'not'>

const dropped: ReadonlySet<string> = new Set([
  'title',
  'description',
  'externalDocs',
  'example',
  'items',
  'properties',
  'additionalProperties',
  'allOf',
  'anyOf',
  'oneOf',
  'not',
])

/** Keywords that are floats, and sizes beyond 2⁵³, which no value has. */
const floats: ReadonlySet<string> = new Set([
  'maximum',
  'minimum',
  'multipleOf',
  'maxLength',
  'minLength',
  'maxItems',
  'minItems',
  'maxProperties',
  'minProperties',
])

function keywordsOf(source: SchemaSource): Keywords {
  const entries = Object.entries(source)
    .filter(([name]) => !dropped.has(name))
    .map(([name, value]) => [name, typeof value === 'bigint' && floats.has(name) ? Number(value) : value])
  return entries.length === 0 ? noKeywords : Object.fromEntries(entries)
}

type Has = StructuralSchema['has']
const sharedFlags: Has[] = []

/** Returns one of the sixteen shared combinations. */
function flags(defaults: boolean, embedded: boolean, listTypes: boolean, rules: boolean): Has {
  const at = (defaults ? 1 : 0) | (embedded ? 2 : 0) | (listTypes ? 4 : 0) | (rules ? 8 : 0)
  return (sharedFlags[at] ??= { defaults, embedded, listTypes, rules })
}

/** Returns the schema of a member, or undefined if there is none. */
export function memberSchema(schema: StructuralSchema, name: string): StructuralSchema | undefined {
  return schema.properties?.get(name) ?? (typeof schema.others === 'object' ? schema.others : undefined)
}
