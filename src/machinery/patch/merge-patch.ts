/**
 * JSON merge patch (RFC 7386) as kube-apiserver applies it: null members are also removed from objects in lists of the
 * patch, unless the list replaces an object.
 */
import { own, setOwn } from '../../lib/own.ts'
import { isObject, type JsonObject } from '../fields/json.ts'
import { badRequest } from '../status-error.ts'

/**
 * Returns the object with the patch applied. Does not change either; unchanged parts are shared. Throws 400 if the
 * patch is not an object.
 */
export function mergePatch<T extends object>(object: T, patch: unknown): T {
  if (!isObject(patch))
    throw badRequest(
      `error decoding patch: json: cannot unmarshal ${jsonKind(patch)} into Go value of type map[string]interface {}`,
    )
  return mergeMembers(object as JsonObject, patch) as T
}

/** Returns the name of a JSON value's type in errors of Go's decoder. */
export function jsonKind(value: unknown): string {
  if (Array.isArray(value)) return 'array'
  if (typeof value === 'boolean') return 'bool'
  return value === null ? 'null' : typeof value === 'bigint' || typeof value === 'symbol' ? 'number' : typeof value
}

function mergeMembers(object: JsonObject, patch: JsonObject): JsonObject {
  let out: JsonObject | undefined
  for (const key of Object.keys(patch)) {
    const value = patch[key]
    const before = own(object, key)
    if (value === null && before === undefined) continue
    const after =
      value === null
        ? undefined
        : isObject(before)
          ? isObject(value)
            ? mergeMembers(before, value)
            : value
          : withoutNulls(value)
    if (after === before) continue
    out ??= { ...object }
    if (after === undefined) delete out[key]
    else setOwn(out, key, after)
  }
  return out ?? object
}

/** Removes the null members of all nested objects. Null items of lists remain. */
function withoutNulls(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutNulls)
  if (!isObject(value)) return value
  const out: JsonObject = {}
  for (const key of Object.keys(value)) if (value[key] !== null) setOwn(out, key, withoutNulls(value[key]))
  return out
}
