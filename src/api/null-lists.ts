/** Lists that Go always writes, and that its storage does not tell from none when they are empty: those are null. */
import type { KubeObject } from '../machinery/object.ts'

/** Prepares such lists at the top of an object: `nullLists('rules')`. Not a default: who sends `[]` owns the field. */
export const nullLists =
  (...fields: readonly string[]) =>
  (object: KubeObject): void => {
    const lists = object as KubeObject & Record<string, unknown>
    for (const field of fields) {
      const value = lists[field]
      if (value === undefined || (Array.isArray(value) && value.length === 0)) lists[field] = null
    }
  }
