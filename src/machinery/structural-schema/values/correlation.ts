/**
 * Which old value a new one replaces: faults that were there before do not keep the rest of an object from changing
 * (KEP-4008).
 */
import { writeJson } from '../../../lib/exact-json.ts'
import { own } from '../../../lib/own.ts'
import { isObject, type JsonObject, jsonEqual } from '../../fields/json.ts'
import type { StructuralSchema } from '../schema.ts'

/** There is no old value, or it cannot be told which it was. */
export const none: unique symbol = Symbol('none')

/**
 * Finds the old item that an item of a list replaces; undefined for lists without keys, whose items are not known
 * again.
 */
export function correlatedItems(
  old: unknown,
  { keywords }: StructuralSchema,
): ((item: unknown) => unknown) | undefined {
  const keys = keywords['x-kubernetes-list-type'] === 'map' ? keywords['x-kubernetes-list-map-keys'] : undefined
  if (!keys?.length || !Array.isArray(old)) return undefined
  const place = (item: JsonObject): string => writeJson(keys.map((key) => own(item, key)))
  const items = new Map<string, unknown>()
  // Of items with equal keys, the first is the one.
  for (const item of old.toReversed()) if (isObject(item)) items.set(place(item), item)
  return (item) => (isObject(item) ? (items.get(place(item)) ?? none) : none)
}

/** Whether a value is what it was. Order does not matter in lists with keys. */
export function isUnchanged(value: unknown, old: unknown, schema: StructuralSchema): boolean {
  if (jsonEqual(value, old)) return true
  if (!Array.isArray(value) || !Array.isArray(old) || value.length !== old.length) return false
  const before = correlatedItems(old, schema)
  return before !== undefined && value.every((item) => jsonEqual(item, before(item)))
}
