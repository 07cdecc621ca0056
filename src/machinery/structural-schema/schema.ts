/**
 * Structural schemas (KEP-1178) in the form that pruning, defaults and validation read. Texts for people are dropped,
 * and equal schemas within one definition are one: many thousands of fields have a few hundred shapes.
 */
import { writeJson } from '../../lib/exact-json.ts'
import { itemsOf, othersOf, propertiesOf, type SchemaSource } from './source.ts'

export interface StructuralSchema {
  /** What is written in the schema itself, without texts for people and without the schemas in it. */
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
  /** Undefined without one; a default of null counts as none. */
  readonly default: unknown
  readonly items: StructuralSchema | undefined
  readonly properties: ReadonlyMap<string, StructuralSchema> | undefined
  /** `additionalProperties`: the schema of members without a name, or whether there may be any. */
  readonly others: StructuralSchema | boolean | undefined
  readonly allOf: readonly StructuralSchema[] | undefined
  readonly anyOf: readonly StructuralSchema[] | undefined
  readonly oneOf: readonly StructuralSchema[] | undefined
  readonly not: StructuralSchema | undefined
  /** Which walks have anything to do here or below. */
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

/** The compiled form of a valid schema. */
export function structuralSchema(source: SchemaSource): StructuralSchema {
  return new Compiler().compile(source)
}

/**
 * Compiles schemas that have much in common, such as those of a definition's versions: what is equal in them is one.
 */
export function structuralSchemas(): (source: SchemaSource) => StructuralSchema {
  const compiler = new Compiler()
  return (source) => compiler.compile(source)
}

const noKeywords: Keywords = Object.freeze({})

/** Knows the schemas made so far by what they say. */
class Compiler {
  readonly #made = new Map<string, StructuralSchema>()
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
    const same = this.#made.get(text)
    if (same) return same
    this.#made.set(text, schema)
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

  /** Tells schemas of one definition apart: their own keywords, and which schemas are in them. */
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

/** Floats, and sizes that nothing can have. */
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
  const kept = Object.entries(source)
    .filter(([name]) => !dropped.has(name))
    .map(([name, value]) => [name, typeof value === 'bigint' && floats.has(name) ? Number(value) : value])
  return kept.length === 0 ? noKeywords : Object.fromEntries(kept)
}

type Has = StructuralSchema['has']
const known: Has[] = []

/** The sixteen possible answers, each made once. */
function flags(defaults: boolean, embedded: boolean, listTypes: boolean, rules: boolean): Has {
  const at = (defaults ? 1 : 0) | (embedded ? 2 : 0) | (listTypes ? 4 : 0) | (rules ? 8 : 0)
  return (known[at] ??= { defaults, embedded, listTypes, rules })
}

/** The schema of a member; undefined where there is none. */
export function memberSchema(schema: StructuralSchema, name: string): StructuralSchema | undefined {
  return schema.properties?.get(name) ?? (typeof schema.others === 'object' ? schema.others : undefined)
}
