/**
 * Loads the schemas of all kinds from the file that `scripts/generate/schema.ts` generates. Types are built on first
 * use, since a start needs few of the thousand types.
 */
import { readFileSync } from 'node:fs'
import type { Field, StructType } from '../../machinery/schema.ts'
import { parseField } from './field-facts.ts'
import { groupVersionKindsOf } from './group-versions.ts'
import { generatedFile } from './location.ts'
import { embeddedStructs } from './protobuf.ts'

type GeneratedType = readonly [definition: string, facts: string, fields: Readonly<Record<string, string>>]

let generated: Readonly<Record<string, GeneratedType>> | undefined
let descriptionTexts: Readonly<Record<string, Readonly<Record<string, string>>>> | undefined
let models: ReadonlyMap<string, string> | undefined
const types = new Map<string, StructType>()

const generatedTypes = (): Readonly<Record<string, GeneratedType>> => {
  generated ??= (
    JSON.parse(readFileSync(generatedFile('schema.json'), 'utf8')) as { types: Record<string, GeneratedType> }
  ).types
  return generated
}

class ModelType implements StructType {
  readonly kind = 'struct'
  readonly definition: string
  readonly goName: string
  readonly atomic: boolean
  readonly union: StructType['union']
  readonly #source: Readonly<Record<string, string>>
  #fields: ReadonlyMap<string, Field> | undefined
  #required: ReadonlySet<string> | undefined

  constructor([definition, facts, fields]: GeneratedType) {
    this.definition = definition
    this.goName = definition.slice(definition.lastIndexOf('.') + 1)
    const known = facts.split(' ')
    this.atomic = known.includes('map-atomic')
    this.union = parseUnion(known.find((fact) => fact.startsWith('union:')))
    this.#source = fields
  }

  get fields(): ReadonlyMap<string, Field> {
    if (!this.#fields) this.#build()
    return this.#fields!
  }

  get required(): ReadonlySet<string> {
    if (!this.#required) this.#build()
    return this.#required!
  }

  get groupVersionKinds(): StructType['groupVersionKinds'] {
    return groupVersionKindsOf(
      this.definition,
      'kind' in this.#source && 'apiVersion' in this.#source && 'metadata' in this.#source,
    )
  }

  embeddedIn(field: string): readonly string[] {
    return embeddedStructs(this.definition, field)
  }

  #build(): void {
    const fields = new Map<string, Field>()
    const required = new Set<string>()
    for (const name of orderedNames(this.#source)) {
      const read = parseField(this.#source[name]!, modelType)
      fields.set(name, read.field)
      if (read.required) required.add(name)
    }
    this.#fields = fields
    this.#required = required
  }
}

/** Parses `union:DISCRIMINATOR=FIELD,FIELD`; the discriminator may be empty. */
function parseUnion(fact: string | undefined): StructType['union'] {
  const [discriminator, fields] = fact?.slice('union:'.length).split('=') ?? []
  return fields === undefined ? undefined : { ...(discriminator && { discriminator }), fields: fields.split(',') }
}

/**
 * Returns field names in the order of the encoding: kind, apiVersion, metadata, then the others in the order of the
 * model.
 */
function orderedNames(fields: Readonly<Record<string, string>>): string[] {
  const first = ['kind', 'apiVersion', 'metadata'].filter((name) => Object.hasOwn(fields, name))
  return first.length < 2
    ? Object.keys(fields)
    : [...first, ...Object.keys(fields).filter((name) => !first.includes(name))]
}

/**
 * Returns the type of a model of the client (`V1Pod`, `CoreV1Event`), one instance per model. Throws for unknown
 * models.
 */
export function modelType(model: string): StructType {
  let type = types.get(model)
  if (!type) {
    const source = generatedTypes()[model]
    if (!source) throw new Error(`no schema for model ${model}`)
    type = new ModelType(source)
    types.set(model, type)
  }
  return type
}

/** Returns the names of all models. @internal Tests go through all of them. */
export const modelNames = (): string[] => Object.keys(generatedTypes())

/** Returns the model of a definition (`io.k8s.api.core.v1.Pod` → `V1Pod`). */
export function modelOfDefinition(definition: string): string | undefined {
  models ??= new Map(Object.entries(generatedTypes()).map(([model, [name]]) => [name, model]))
  return models.get(definition)
}

/**
 * Returns the descriptions of a model's fields, and its own under ''. They are in a separate file, read on first use.
 */
export function descriptionsOf(model: string): Readonly<Record<string, string>> {
  descriptionTexts ??= JSON.parse(readFileSync(generatedFile('descriptions.json'), 'utf8')) as Record<
    string,
    Record<string, string>
  >
  return descriptionTexts[model] ?? {}
}
