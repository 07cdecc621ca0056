/** Which old value a new one replaces: faults that were there before do not keep the rest of an object from changing (KEP-4008). */
import { isObject, jsonEqual } from '../fields/json.ts'
import type { StructuralSchema } from './schema.ts'

/** There is no old value, or it cannot be told which it was. */
export const none: unique symbol = Symbol('none')

/** The old item that an item of a list replaces: only items with keys are known again. */
export function correlatedItem(item: unknown, old: unknown, { keywords }: StructuralSchema): unknown {
  const keys = keywords['x-kubernetes-list-type'] === 'map' ? keywords['x-kubernetes-list-map-keys'] : undefined
  if (!keys?.length || !Array.isArray(old) || !isObject(item)) return none
  const same = old.find((it) => isObject(it) && keys.every((key) => jsonEqual(it[key], item[key])))
  return same ?? none
}

/** Whether a value is what it was. Order does not matter in lists with keys. */
export function isUnchanged(value: unknown, old: unknown, schema: StructuralSchema): boolean {
  if (jsonEqual(value, old)) return true
  if (!Array.isArray(value) || !Array.isArray(old) || value.length !== old.length || schema.keywords['x-kubernetes-list-type'] !== 'map') return false
  return value.every((item) => jsonEqual(item, correlatedItem(item, old, schema)))
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
