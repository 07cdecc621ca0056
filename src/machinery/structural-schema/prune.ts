/** Removes fields that a schema does not specify from custom objects (KEP-2000), and nulls of non-nullable fields. */
import { isObject } from '../fields/json.ts'
import { pruneMetadata } from './embedded/embedded-metadata.ts'
import { memberSchema, type StructuralSchema } from './schema.ts'

/** The limit of returned paths, the same as for built-in kinds. */
const maxReportedPaths = 100
/** The limit of paths that are collected and sorted. */
const maxCollectedPaths = 10_000

/** Fields of a resource, embedded or at the root, that the schema does not determine. */
const isMeta = (name: string): boolean => name === 'metadata' || name === 'kind' || name === 'apiVersion'

/**
 * Removes fields that the schema does not specify, in place, and returns at most 100 of their paths
 * (`spec.layers[0].extra`) in upstream's order. `apiVersion`, `kind` and `metadata` of the root are not changed; in the
 * `metadata` of embedded resources, the fields of ObjectMeta remain.
 */
export function prune(object: Record<string, unknown>, schema: StructuralSchema): string[] {
  const pruned: string[] = []
  if (schema.preserves) pruneSpecified(object, schema, '', pruned, true)
  else pruneObject(object, schema, '', pruned, true)
  if (pruned.length > 1) pruned.sort(byBytes)
  if (schema.has.embedded) {
    const fromMetadata: string[] = []
    pruneMetadata(object, schema, '', fromMetadata)
    for (const path of fromMetadata.sort(byBytes)) pruned.push(path)
  }
  if (pruned.length > maxReportedPaths) pruned.length = maxReportedPaths
  return pruned
}

/** Prunes a value that is not a resource. Does not return paths. */
export const pruneValueOf = (value: unknown, schema: StructuralSchema): void => pruneValue(value, schema, '', [])

const byBytes = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0)

function pruneValue(value: unknown, schema: StructuralSchema | undefined, path: string, pruned: string[]): void {
  if (typeof value !== 'object' || value === null) return
  if (schema?.preserves) pruneSpecified(value, schema, path, pruned, false)
  else if (Array.isArray(value))
    for (let i = 0; i < value.length; i++) pruneValue(value[i], schema?.items, `${path}[${i}]`, pruned)
  else if (isObject(value)) pruneObject(value, schema, path, pruned, false)
}

const join = (path: string, name: string): string => (path === '' ? name : `${path}.${name}`)

function pruneObject(
  object: Record<string, unknown>,
  schema: StructuralSchema | undefined,
  path: string,
  pruned: string[],
  root: boolean,
): void {
  const meta = root || schema?.embedded === true
  for (const name in object) {
    if (meta && isMeta(name)) continue
    const property = schema?.properties?.get(name)
    if (property) pruneValue(object[name], property, join(path, name), pruned)
    else if (schema?.others !== undefined)
      pruneValue(object[name], typeof schema.others === 'object' ? schema.others : undefined, join(path, name), pruned)
    else {
      delete object[name]
      if (pruned.length < maxCollectedPaths) pruned.push(join(path, name))
    }
  }
}

/** Prunes only inside specified fields, below `x-kubernetes-preserve-unknown-fields`. */
function pruneSpecified(
  value: unknown,
  schema: StructuralSchema | undefined,
  path: string,
  pruned: string[],
  root: boolean,
): void {
  if (!schema || typeof value !== 'object' || value === null) return
  if (Array.isArray(value)) {
    if (schema.items)
      for (let i = 0; i < value.length; i++) pruneSpecified(value[i], schema.items, `${path}[${i}]`, pruned, false)
    return
  }
  if (!isObject(value) || (!schema.properties && schema.others === undefined)) return
  for (const name in value) {
    if ((root || schema.embedded) && isMeta(name)) continue
    const property = schema.properties?.get(name)
    if (property) pruneValue(value[name], property, join(path, name), pruned)
    else if (schema.others !== undefined)
      pruneValue(value[name], typeof schema.others === 'object' ? schema.others : undefined, join(path, name), pruned)
  }
}

/** Removes nulls of fields that are not nullable, in place. Those with a default remain for `fillDefaults`. */
export function dropNulls(value: unknown, schema: StructuralSchema | undefined): void {
  if (typeof value !== 'object' || value === null || !schema) return
  if (Array.isArray(value)) {
    if (schema.items) for (const item of value) dropNulls(item, schema.items)
    return
  }
  if (!isObject(value)) return
  for (const name in value) {
    const below = memberSchema(schema, name)
    if (!below) continue
    if (value[name] === null && !below.nullable && below.default === undefined) delete value[name]
    else dropNulls(value[name], below)
  }
}
