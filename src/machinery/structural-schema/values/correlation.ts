/** Correlation of new values with old ones: unchanged invalid values do not prevent other changes (KEP-4008). */
import { writeJson } from '../../../lib/exact-json.ts'
import { own } from '../../../lib/own.ts'
import { isObject, type JsonObject, jsonEqual } from '../../fields/json.ts'
import type { StructuralSchema } from '../schema.ts'

/** Marks an old value that is missing or cannot be determined. */
export const none: unique symbol = Symbol('none')

/**
 * Returns a function that finds the old item of an item. Returns undefined for lists without keys, whose items cannot
 * be correlated.
 */
export function correlatedItems(
  old: unknown,
  { keywords }: StructuralSchema,
): ((item: unknown) => unknown) | undefined {
  const keys = keywords['x-kubernetes-list-type'] === 'map' ? keywords['x-kubernetes-list-map-keys'] : undefined
  if (!keys?.length || !Array.isArray(old)) return undefined
  const place = (item: JsonObject): string => writeJson(keys.map((key) => own(item, key)))
  const items = new Map<string, unknown>()
  // The first of several items with equal keys counts.
  for (const item of old.toReversed()) if (isObject(item)) items.set(place(item), item)
  return (item) => (isObject(item) ? (items.get(place(item)) ?? none) : none)
}

/** Returns true if a value is unchanged. The order of lists with keys is ignored. */
export function isUnchanged(value: unknown, old: unknown, schema: StructuralSchema): boolean {
  if (jsonEqual(value, old)) return true
  if (!Array.isArray(value) || !Array.isArray(old) || value.length !== old.length) return false
  const before = correlatedItems(old, schema)
  return before !== undefined && value.every((item) => jsonEqual(item, before(item)))
}
