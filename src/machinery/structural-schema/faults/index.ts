/** What is wrong with a schema in a CustomResourceDefinition, in upstream's order and words. */
import { type FieldError, forbiddenField, invalidValue } from '../../validation/field-error.ts'
import type { StructuralSchema } from '../schema.ts'
import { structuralSchema } from '../schema.ts'
import { anySchema, type SchemaSource } from '../source.ts'
import { defaultFaults, isPruned } from './default-faults.ts'
import { isGranularSet, keyFaults, keywordFaults } from './keywords.ts'
import { hasUnsupported, nonStructuralFaults } from './structure.ts'

export interface SchemaChecks {
  /** Whether the version has the subresource `/status`: then the root may not say more than its parts do. */
  readonly status?: boolean
  /** Schemas of the object that is replaced: what was wrong there already may stay so. */
  readonly old?: readonly SchemaSource[]
  /**
   * What is wrong with rules (`x-kubernetes-validations`). Asked of sound schemas only; rules at or above one that is
   * in `faulty` are not to be compiled.
   */
  readonly ruleFaults?: (source: SchemaSource, path: string, faulty: ReadonlySet<SchemaSource>) => readonly FieldError[]
  /** What rules say of a default. */
  readonly defaultRuleFaults?: (value: unknown, schema: StructuralSchema, path: string) => readonly FieldError[]
}

/** `path` leads to the schema: `spec.validation.openAPIV3Schema`. Empty when objects can be held against the schema. */
export function structuralFaults(
  source: SchemaSource,
  path: string,
  { status, old, ruleFaults, defaultRuleFaults }: SchemaChecks = {},
): FieldError[] {
  const faults: FieldError[] = []
  if (status) faults.push(...statusRootFaults(source, path))
  if (source.nullable) faults.push(forbiddenField(`${path}.nullable`, 'nullable cannot be true at the root'))
  const had = (has: (schema: SchemaSource) => boolean): boolean =>
    old?.some((schema) => anySchema(schema, has)) ?? false
  const unsupported = anySchema(source, hasUnsupported)
  let sound = false
  if (!unsupported) {
    const structure = nonStructuralFaults(source, path)
    const found =
      structure.length > 0
        ? structure
        : defaultFaults(source, path, { pruned: !old?.some(hasUnprunedDefaults), ruleFaults: defaultRuleFaults })
    sound = found.length === 0
    faults.push(...found)
  }
  const checks = {
    knownTypes: !had(({ type }) => Boolean(type) && !types.has(type ?? '')),
    atomicSetItems: !had(isGranularSet),
    listKeys: !had((schema) => keyFaults(schema, '').length > 0),
  }
  const faulty = new Set<SchemaSource>()
  faults.push(...keywordFaults(source, path, checks, faulty))
  if (sound && ruleFaults) faults.push(...ruleFaults(source, path, faulty))
  return faults
}

const types: ReadonlySet<string> = new Set(['array', 'boolean', 'integer', 'number', 'object', 'string'])

function hasUnprunedDefaults(source: SchemaSource): boolean {
  if (anySchema(source, hasUnsupported) || nonStructuralFaults(source, '').length > 0) return false
  const unpruned = (schema: StructuralSchema): boolean => {
    if (!schema.has.defaults) return false
    if (schema.default !== undefined && !isPruned(schema.default, schema)) return true
    return [...(schema.properties?.values() ?? []), ...(schema.items ? [schema.items] : [])].some(unpruned)
  }
  return unpruned(structuralSchema(source))
}

/** Go's names, which the message lists, of keywords that say as much about the object without its status. */
const atRoot: ReadonlyMap<string, string> = new Map([
  ['description', 'Description'],
  ['type', 'Type'],
  ['format', 'Format'],
  ['title', 'Title'],
  ['maximum', 'Maximum'],
  ['exclusiveMaximum', 'ExclusiveMaximum'],
  ['minimum', 'Minimum'],
  ['exclusiveMinimum', 'ExclusiveMinimum'],
  ['maxLength', 'MaxLength'],
  ['minLength', 'MinLength'],
  ['pattern', 'Pattern'],
  ['maxItems', 'MaxItems'],
  ['minItems', 'MinItems'],
  ['uniqueItems', 'UniqueItems'],
  ['multipleOf', 'MultipleOf'],
  ['required', 'Required'],
  ['items', 'Items'],
  ['properties', 'Properties'],
  ['externalDocs', 'ExternalDocs'],
  ['example', 'Example'],
  ['x-kubernetes-preserve-unknown-fields', 'XPreserveUnknownFields'],
  ['x-kubernetes-validations', 'XValidations'],
])

function statusRootFaults(source: SchemaSource, path: string): FieldError[] {
  if (source.type && source.type !== 'object')
    return [
      invalidValue(
        `${path}.type`,
        source.type,
        'only "object" is allowed as the type at the root of the schema if the status subresource is enabled',
      ),
    ]
  const more = Object.entries(source).some(
    ([name, value]) => !atRoot.has(name) && value !== undefined && value !== null && value !== false && value !== '',
  )
  if (!more) return []
  const allowed = [...atRoot.values()].join(' ')
  return [
    invalidValue(
      path,
      source,
      `only [${allowed}] fields are allowed at the root of the schema if the status subresource is enabled`,
    ),
  ]
}
