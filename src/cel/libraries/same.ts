/** Equality and order of values, as libraries need them: `==` of the language without its faults, and the order within one type. */
import { Buffer } from 'node:buffer'
import { formatType } from '../types.ts'
import { CelList, CelMap, Duration, OpaqueValue, OptionalValue, Timestamp, TypeValue, UInt, type Value } from '../values.ts'

/** Whether two values are equal; numbers of different types are if they are the same number, NaN never is. */
export function same(a: Value, b: Value): boolean {
  if (isNumber(a) && isNumber(b)) return ordered(number(a), number(b)) === 0
  if (a instanceof Uint8Array) return b instanceof Uint8Array && Buffer.compare(a, b) === 0
  if (a instanceof Duration) return b instanceof Duration && a.nanoseconds === b.nanoseconds
  if (a instanceof Timestamp) return b instanceof Timestamp && a.nanoseconds === b.nanoseconds
  if (a instanceof TypeValue) return b instanceof TypeValue && formatType(a.type) === formatType(b.type)
  if (a instanceof OpaqueValue) return b instanceof OpaqueValue && a.type.name === b.type.name && a.equals(b)
  if (a instanceof CelList) return b instanceof CelList && sameLists(a, b)
  if (a instanceof CelMap) return b instanceof CelMap && sameMaps(a, b)
  if (a instanceof OptionalValue) {
    if (!(b instanceof OptionalValue)) return false
    return a.value === undefined || b.value === undefined ? a.value === b.value : same(a.value, b.value)
  }
  return a === b
}

const isNumber = (value: Value): value is number | bigint | UInt => typeof value === 'number' || typeof value === 'bigint' || value instanceof UInt
const number = (value: number | bigint | UInt): number | bigint => (value instanceof UInt ? value.value : value)

function sameLists(a: CelList, b: CelList): boolean {
  if (a.size !== b.size) return false
  for (let i = 0; i < a.size; i++) if (!same(a.at(i), b.at(i))) return false
  return true
}

function sameMaps(a: CelMap, b: CelMap): boolean {
  if (a.size !== b.size) return false
  for (const key of a.keys()) {
    const x = a.get(key)
    const y = b.get(key)
    if (x === undefined || y === undefined || !same(x, y)) return false
  }
  return true
}

/** -1, 0 or 1 for two values of one type that has an order; undefined for others, and for NaN. */
export function order(a: Value, b: Value): number | undefined {
  if (isNumber(a) && isNumber(b)) return ordered(number(a), number(b))
  if (typeof a === 'string' && typeof b === 'string') return Buffer.compare(Buffer.from(a), Buffer.from(b))
  if (a instanceof Uint8Array && b instanceof Uint8Array) return Buffer.compare(a, b)
  if (typeof a === 'boolean' && typeof b === 'boolean') return Number(a) - Number(b)
  if (a instanceof Duration && b instanceof Duration) return ordered(a.nanoseconds, b.nanoseconds)
  if (a instanceof Timestamp && b instanceof Timestamp) return ordered(a.nanoseconds, b.nanoseconds)
  return undefined
}

const ordered = (a: number | bigint, b: number | bigint): number | undefined => (a < b ? -1 : a > b ? 1 : a <= b ? 0 : undefined)
