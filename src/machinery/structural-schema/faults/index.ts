/** Validation of a schema in a CustomResourceDefinition, with upstream's messages in upstream's order. */
import { type FieldError, forbiddenField, invalidValue } from '../../validation/field-error.ts'
import type { StructuralSchema } from '../schema.ts'
import { structuralSchema } from '../schema.ts'
import { anySchema, type SchemaSource } from '../source.ts'
import { defaultFaults, isPruned } from './default-faults.ts'
import { isGranularSet, keyFaults, keywordFaults } from './keywords.ts'
import { hasUnsupported, nonStructuralFaults } from './structure.ts'

export interface SchemaChecks {
  /** True if the version has the subresource `/status`: the root may then use only some keywords. */
  readonly status?: boolean
  /** Schemas of the old object: some errors that it already had are allowed to remain. */
  readonly old?: readonly SchemaSource[]
  /**
   * Returns the errors of rules (`x-kubernetes-validations`). Called for valid schemas only. It must not compile rules
   * at or above a schema that is in `faulty`.
   */
  readonly ruleFaults?: (source: SchemaSource, path: string, faulty: ReadonlySet<SchemaSource>) => readonly FieldError[]
  /** Returns the errors of CEL rules for a default. */
  readonly defaultRuleFaults?: (value: unknown, schema: StructuralSchema, path: string) => readonly FieldError[]
}

/** Returns the errors of a schema at `path`, such as `spec.validation.openAPIV3Schema`. */
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

/** Keywords that are allowed at the root, with Go's names, which the message lists. */
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
