/** The size of a value, as `size()` and costs count it. */
import { CelList, CelMap, type Value } from '../values.ts'

const surrogate = /[\ud800-\udbff]/

/** The number of code points. */
export function stringSize(text: string): number {
  if (!surrogate.test(text)) return text.length
  let size = 0
  for (const _ of text) size++
  return size
}

/** The size of strings, bytes, lists and maps; of all else 1. */
export function sizeOf(value: Value): number {
  if (typeof value === 'string') return stringSize(value)
  if (value instanceof CelList || value instanceof CelMap) return value.size
  return value instanceof Uint8Array ? value.length : 1
}
