/** Fields that Go encodes without omitempty: null when they have no value. */
import type { KubeObject } from '../machinery/object.ts'

/** Returns a function that sets top-level lists to null where they are empty or absent: `nullEmptyLists('rules')`. */
export const nullEmptyLists =
  (...fields: readonly string[]) =>
  (object: KubeObject): void => {
    const lists = object as KubeObject & Record<string, unknown>
    for (const field of fields) {
      const value = lists[field]
      if (value === undefined || (Array.isArray(value) && value.length === 0)) lists[field] = null
    }
  }

/** Sets absent times to null: a metav1.Time that is no pointer is never omitted. */
export function nullMissingTimes<T extends object>(items: readonly T[], ...fields: readonly (keyof T)[]): void {
  for (const item of items) for (const field of fields) (item as Record<keyof T, unknown>)[field] ??= null
}
