/** JSON as Go writes it, and equality of JSON values. */
import { writeJson } from '../../lib/exact-json.ts'
import { own } from '../../lib/own.ts'

export type JsonObject = Record<string, unknown>

/** Returns true if the value is a JSON object (not a list, not null). */
export const isObject = (value: unknown): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

const escapes: Readonly<Record<string, string>> = {
  '<': '\\u003c',
  '>': '\\u003e',
  '&': '\\u0026',
  '\u2028': '\\u2028',
  '\u2029': '\\u2029',
}

/** Writes a value like Go's `encoding/json`: compact, with `<`, `>`, `&` and line separators escaped. Does not sort. */
export function goJson(value: unknown): string {
  return escapedJson(writeJson(value) ?? 'null')
}

/** Escapes the characters in a JSON text that Go escapes. */
export const escapedJson = (json: string): string =>
  /[<>&\u2028\u2029]/.test(json) ? json.replace(/[<>&\u2028\u2029]/g, (c) => escapes[c]!) : json

/** Copies a value with the members of all objects sorted, as Go writes maps. */
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
 * Returns true if two JSON values are equal. Undefined members count as absent; null, `{}` and `[]` are different.
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
