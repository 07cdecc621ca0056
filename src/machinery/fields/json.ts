/** JSON as Go writes it, and equality of JSON values: what names of fields and comparisons are made of. */
import { writeJson } from '../../lib/exact-json.ts'
import { own } from '../../lib/own.ts'

export type JsonObject = Record<string, unknown>

/** Whether the value is a JSON object (no list, not null). */
export const isObject = (value: unknown): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

const escapes: Readonly<Record<string, string>> = {
  '<': '\\u003c',
  '>': '\\u003e',
  '&': '\\u0026',
  '\u2028': '\\u2028',
  '\u2029': '\\u2029',
}

/**
 * Go's `encoding/json` text of a value: compact, with `<`, `>`, `&` and the line separators escaped. Members keep their
 * order.
 */
export function goJson(value: unknown): string {
  return escapedJson(writeJson(value) ?? 'null')
}

/** JSON that is there already, with what Go escapes in it escaped. */
export const escapedJson = (json: string): string =>
  /[<>&\u2028\u2029]/.test(json) ? json.replace(/[<>&\u2028\u2029]/g, (c) => escapes[c]!) : json

/** The value with the members of all objects in order, as Go writes maps. */
export function sortMembers(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sortMembers)
  if (!isObject(value)) return value
  return Object.fromEntries(
    Object.keys(value)
      .sort()
      .map((key) => [key, sortMembers(value[key])]),
  )
}

/**
 * Whether two JSON values are the same. Members that are undefined count as absent; null, `{}` and `[]` are three
 * things.
 */
export function jsonEqual(a: unknown, b: unknown): boolean {
  if (a === b) return true
  if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null) return false
  if (Array.isArray(a)) {
    if (!Array.isArray(b) || a.length !== b.length) return false
    for (let i = 0; i < a.length; i++) if (!jsonEqual(a[i], b[i])) return false
    return true
  }
  if (Array.isArray(b)) return false
  const x = a as JsonObject
  const y = b as JsonObject
  let members = 0
  for (const key in x) {
    const value = x[key]
    if (value !== undefined) members++
    if (!jsonEqual(value, own(y, key))) return false
  }
  for (const key in y) if (y[key] !== undefined) members--
  return members === 0
}
