/** Semantic equality of decoded objects: absent, null, `{}` and `[]` are equal (apimachinery `equality.Semantic`). */
import { own } from '../lib/own.ts'

const isEmpty = (value: unknown): boolean => {
  if (value === undefined || value === null) return true
  if (typeof value !== 'object') return false
  if (Array.isArray(value)) return value.length === 0
  for (const key in value) if (!isEmpty((value as Record<string, unknown>)[key])) return false
  return true
}

/** Returns true if two decoded values are semantically equal. The order of members is ignored, that of items is not. */
export function semanticallyEqual(a: unknown, b: unknown): boolean {
  if (a === b) return true
  if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null) return isEmpty(a) && isEmpty(b)
  if (Array.isArray(a) || Array.isArray(b)) {
    if (!Array.isArray(a) || !Array.isArray(b)) return isEmpty(a) && isEmpty(b)
    return a.length === b.length && a.every((item, i) => semanticallyEqual(item, b[i]))
  }
  const x = a as Record<string, unknown>
  const y = b as Record<string, unknown>
  // Both nearly always have the same members. Then no member of `y` needs a look-up in `x`.
  let more = 0
  for (const key in x) {
    const other = own(y, key)
    if (other !== undefined) more--
    if (!semanticallyEqual(x[key], other)) return false
  }
  for (const _ in y) more++
  if (more === 0) return true
  for (const key in y) if (!Object.hasOwn(x, key) && !isEmpty(y[key])) return false
  return true
}

/** Returns the paths of at most `limit` fields in which two objects differ, such as `spec.nodeName`. For display. */
export function differingPaths(a: unknown, b: unknown, path: string, limit = 8): string[] {
  if (semanticallyEqual(a, b)) return []
  if (
    typeof a !== 'object' ||
    typeof b !== 'object' ||
    a === null ||
    b === null ||
    Array.isArray(a) !== Array.isArray(b)
  )
    return [path]
  const x = a as Record<string, unknown>
  const y = b as Record<string, unknown>
  const found: string[] = []
  for (const key of new Set([...Object.keys(x), ...Object.keys(y)])) {
    if (found.length >= limit) break
    found.push(
      ...differingPaths(
        own(x, key),
        own(y, key),
        Array.isArray(a) ? `${path}[${key}]` : `${path}.${key}`,
        limit - found.length,
      ),
    )
  }
  return found
}
