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
