/** The size of a value for `size()` and costs. */
import { CelList, CelMap, type Value } from '../values.ts'

const surrogate = /[\ud800-\udbff]/

/** Returns the number of code points. */
export function stringSize(text: string): number {
  if (!surrogate.test(text)) return text.length
  let size = 0
  for (const _ of text) size++
  return size
}

/** Returns the size of strings, bytes, lists and maps, and 1 for other values. */
export function sizeOf(value: Value): number {
  if (typeof value === 'string') return stringSize(value)
  if (value instanceof CelList || value instanceof CelMap) return value.size
  return value instanceof Uint8Array ? value.length : 1
}
