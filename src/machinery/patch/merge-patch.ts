/**
 * JSON merge patch (RFC 7386) as kube-apiserver applies it: null members are also taken out of objects inside lists
 * of the patch, unless the list replaces an object.
 */
import { own, setOwn } from '../../lib/own.ts'
import { isObject, type JsonObject } from '../fields/json.ts'
import { badRequest } from '../status-error.ts'

/**
 * The object with the patch applied; neither is changed, and what the patch leaves alone is shared. A patch that is no
 * object is a 400.
 */
export function mergePatch<T extends object>(object: T, patch: unknown): T {
  if (!isObject(patch))
    throw badRequest(
      `error decoding patch: json: cannot unmarshal ${jsonKind(patch)} into Go value of type map[string]interface {}`,
    )
  return mergeMembers(object as JsonObject, patch) as T
}

/** What Go's decoder calls a JSON value. */
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

/** A new value without the null members of its objects, however deep. Null items of lists stay. */
function withoutNulls(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutNulls)
  if (!isObject(value)) return value
  const out: JsonObject = {}
  for (const key of Object.keys(value)) if (value[key] !== null) setOwn(out, key, withoutNulls(value[key]))
  return out
}
