/** Which old value a new one replaces: faults that were there before do not keep the rest of an object from changing (KEP-4008). */
import { own } from '../../lib/own.ts'
import { isObject, type JsonObject, jsonEqual } from '../fields/json.ts'
import type { StructuralSchema } from './schema.ts'

/** There is no old value, or it cannot be told which it was. */
export const none: unique symbol = Symbol('none')

/** Finds the old item that an item of a list replaces; undefined for lists without keys, whose items are not known again. */
export function correlatedItems(old: unknown, { keywords }: StructuralSchema): ((item: unknown) => unknown) | undefined {
  const keys = keywords['x-kubernetes-list-type'] === 'map' ? keywords['x-kubernetes-list-map-keys'] : undefined
  if (!keys?.length || !Array.isArray(old)) return undefined
  const place = (item: JsonObject): string => JSON.stringify(keys.map((key) => own(item, key)))
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

/** Lists of so many items are looked through; longer ones are put in order first. */
const short = 16

/** `correlatedItem` for many items of one list. */
export function itemFinder(old: readonly unknown[], schema: StructuralSchema): (item: unknown) => unknown {
  const keys = schema.keywords['x-kubernetes-list-type'] === 'map' ? schema.keywords['x-kubernetes-list-map-keys'] : undefined
  if (!keys?.length) return () => none
  if (old.length <= short) return (item) => correlatedItem(item, old, schema)
  const keyOf = (item: Record<string, unknown>): string => JSON.stringify(keys.map((key) => item[key] ?? null))
  const byKey = new Map<string, unknown>()
  for (const item of old) {
    const key = isObject(item) ? keyOf(item) : undefined
    if (key !== undefined && !byKey.has(key)) byKey.set(key, item)
  }
  return (item) => (isObject(item) ? (byKey.get(keyOf(item)) ?? none) : none)
}
