/** Fields that a schema does not know vanish from custom objects (KEP-2000), and nulls that a field may not hold. */
import { isObject } from '../fields/json.ts'
import { pruneMetadata } from './embedded/embedded-metadata.ts'
import { memberSchema, type StructuralSchema } from './schema.ts'

/** More are not told, as with the fields of built-in kinds; and only so many are put into order before. */
const mostTold = 100
const mostNoted = 10_000

/** Of a resource, embedded or at the root: these are not the schema's. */
const isMeta = (name: string): boolean => name === 'metadata' || name === 'kind' || name === 'apiVersion'

/**
 * Removes fields that the schema does not know, in place, and answers their paths (`spec.layers[0].extra`) in
 * upstream's order, at most 100 of them. The root keeps `apiVersion`, `kind` and its `metadata` untouched; `metadata`
 * of embedded resources keeps what ObjectMeta has.
 */
export function prune(object: Record<string, unknown>, schema: StructuralSchema): string[] {
  const pruned: string[] = []
  if (schema.preserves) skip(object, schema, '', pruned, true)
  else pruneObject(object, schema, '', pruned, true)
  if (pruned.length > 1) pruned.sort(byBytes)
  if (schema.has.embedded) {
    const fromMetadata: string[] = []
    pruneMetadata(object, schema, '', fromMetadata)
    for (const path of fromMetadata.sort(byBytes)) pruned.push(path)
  }
  if (pruned.length > mostTold) pruned.length = mostTold
  return pruned
}

/** As `prune` for a value that is no resource, without telling what went. */
export const pruneValueOf = (value: unknown, schema: StructuralSchema): void => pruneValue(value, schema, '', [])

const byBytes = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0)

function pruneValue(value: unknown, schema: StructuralSchema | undefined, path: string, pruned: string[]): void {
  if (typeof value !== 'object' || value === null) return
  if (schema?.preserves) skip(value, schema, path, pruned, false)
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
      if (pruned.length < mostNoted) pruned.push(join(path, name))
    }
  }
}

/** Below `x-kubernetes-preserve-unknown-fields`: only what is specified is pruned. */
function skip(
  value: unknown,
  schema: StructuralSchema | undefined,
  path: string,
  pruned: string[],
  root: boolean,
): void {
  if (!schema || typeof value !== 'object' || value === null) return
  if (Array.isArray(value)) {
    if (schema.items)
      for (let i = 0; i < value.length; i++) skip(value[i], schema.items, `${path}[${i}]`, pruned, false)
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

/** Removes nulls of fields that are not nullable, in place; those that have a default stay for `fillDefaults`. */
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
