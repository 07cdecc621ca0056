/** Values that Go always writes: where there are none, they are null. */
import type { KubeObject } from '../machinery/object.ts'

/** Prepares lists at the top of an object that nobody decoded, empty or absent: `nullLists('rules')`. */
export const nullLists =
  (...fields: readonly string[]) =>
  (object: KubeObject): void => {
    const lists = object as KubeObject & Record<string, unknown>
    for (const field of fields) {
      const value = lists[field]
      if (value === undefined || (Array.isArray(value) && value.length === 0)) lists[field] = null
    }
  }

/** Times that Go keeps as plain values are never absent on the wire: they are null. */
export function nullTimes<T extends object>(items: readonly T[], ...fields: readonly (keyof T)[]): void {
  for (const item of items) for (const field of fields) (item as Record<keyof T, unknown>)[field] ??= null
}
