/** Validation of defaults: pruned, and valid by their own schemas. */
import { isObject, type JsonObject, jsonEqual } from '../../fields/json.ts'
import { type FieldError, invalidValue } from '../../validation/field-error.ts'
import { embeddedDecodeFault, embeddedFaults } from '../embedded/embedded-metadata.ts'
import { pruneValueOf } from '../prune.ts'
import { type StructuralSchema, structuralSchema } from '../schema.ts'
import type { SchemaSource } from '../source.ts'
import { valueFaults } from '../values/index.ts'

export interface DefaultChecks {
  /** True if defaults must not have fields that would be pruned. */
  readonly pruned: boolean
  /** Returns the errors of CEL rules for a default that is otherwise valid. */
  readonly ruleFaults?: (value: unknown, schema: StructuralSchema, path: string) => readonly FieldError[]
}

/** Creates a resource that has the value in one of its metadata fields. */
type Surround = (value: unknown) => JsonObject

const typeMeta = { apiVersion: 'validation/v1', kind: 'Validation' }

/** Returns the errors of all defaults in a structural schema. */
export function defaultFaults(source: SchemaSource, path: string, checks: DefaultChecks): FieldError[] {
  const schema = structuralSchema(source)
  if (!schema.has.defaults) return []
  const root: StructuralSchema = { ...schema, embedded: true }
  return walk(root, path, checks, root, undefined)
}

const rootOf =
  (name: string): Surround =>
  (value) => ({ ...typeMeta, [name]: value })

function walk(
  schema: StructuralSchema,
  path: string,
  checks: DefaultChecks,
  resource: StructuralSchema,
  surround: Surround | undefined,
): FieldError[] {
  if (!schema.has.defaults) return []
  const nearest = schema.embedded ? schema : resource
  const inMeta = schema.embedded ? undefined : surround
  const faults =
    schema.default === undefined
      ? []
      : inMeta
        ? metaFaults(schema, path, nearest, inMeta)
        : ownFaults(schema, path, checks)
  // Defaults below additionalProperties are forbidden in metadata; elsewhere they are validated when they are used.
  if (schema.items)
    faults.push(...walk(schema.items, `${path}.items`, checks, nearest, inMeta && ((value) => inMeta([value]))))
  for (const [name, property] of schema.properties ?? []) {
    const meta = schema.embedded && (name === 'metadata' || name === 'apiVersion' || name === 'kind')
    const around = meta ? rootOf(name) : inMeta && ((value: unknown) => inMeta({ [name]: value }))
    faults.push(...walk(property, `${path}.properties[${name}]`, checks, nearest, around))
  }
  return faults
}

function ownFaults(schema: StructuralSchema, path: string, { pruned, ruleFaults }: DefaultChecks): FieldError[] {
  const value = schema.default
  const at = `${path}.default`
  const faults: FieldError[] = []
  if (pruned && !isPruned(value, schema)) faults.push(invalidValue(at, value, 'must not have unknown fields'))
  const decode = embeddedDecodeFault(value, schema, at)
  const more = decode ? [decode] : embeddedFaults(value, schema, at)
  if (more.length === 0) more.push(...valueFaults(value, schema, at))
  if (more.length === 0 && schema.has.rules && ruleFaults) more.push(...ruleFaults(value, schema, at))
  return [...faults, ...more]
}

/** Returns true if a default has no fields that its schema does not specify. */
export function isPruned(value: unknown, schema: StructuralSchema): boolean {
  if (typeof value !== 'object') return true
  const copy = structuredClone(value)
  pruneValueOf(copy, schema)
  return jsonEqual(copy, value)
}

/** Validates a default in a resource's metadata: the resource has to be valid with it. */
function metaFaults(
  schema: StructuralSchema,
  path: string,
  resource: StructuralSchema,
  surround: Surround,
): FieldError[] {
  const at = `${path}.default`
  const object = surround(schema.default)
  const decode = embeddedDecodeFault(object, { ...resource, has: { ...resource.has, embedded: true } })
  const faults = decode
    ? [decode]
    : isObject(object)
      ? embeddedFaults(object, { ...resource, has: { ...resource.has, embedded: true } })
      : []
  if (faults.length === 0) return valueFaults(schema.default, schema, at)
  const texts = faults.map(({ field, message }) => `${field}: ${message}`)
  return [
    invalidValue(
      at,
      schema.default,
      `must result in valid metadata: ${texts.length === 1 ? texts[0] : `[${texts.join(', ')}]`}`,
    ),
  ]
}
