/** Equality and order of values. Numbers of different types are compared by value; values of other types differ. */

import { runtimeTypeName } from '../types.ts'
import {
  CelError,
  CelList,
  CelMap,
  Duration,
  OpaqueValue,
  OptionalValue,
  Timestamp,
  TypeValue,
  UInt,
  type Value,
} from '../values.ts'

/** Counts compared elements, and throws at the limit. */
export interface IterationLimit {
  countIteration(): void
}

/**
 * CEL's `==`. Values with shared parts may be far larger than their cost: only `iterations` limits the comparison, and
 * only it throws.
 */
export function equals(a: Value, b: Value, iterations?: IterationLimit): boolean {
  if (a === b) return true
  switch (typeof a) {
    case 'string':
    case 'boolean':
      return false
    case 'bigint':
    case 'number': {
      const other = numeric(b)
      // JavaScript compares a bigint with a double by value, exactly.
      return other !== undefined && a >= other && a <= other
    }
    default:
      return a !== null && b !== null && typeof b === 'object'
        ? equalObjects(a, b, iterations)
        : a instanceof UInt && equals(a.value, b)
  }
}

/** Returns the number of a value, or undefined if it is not a number. */
export const numeric = (value: Value): bigint | number | undefined =>
  typeof value === 'bigint' || typeof value === 'number' ? value : value instanceof UInt ? value.value : undefined

function equalObjects(
  a: Exclude<Value, null | boolean | bigint | number | string>,
  b: typeof a,
  iterations: IterationLimit | undefined,
): boolean {
  if (a instanceof UInt) return b instanceof UInt && a.value === b.value
  if (a instanceof CelList) return b instanceof CelList && equalLists(a, b, iterations)
  if (a instanceof CelMap) return b instanceof CelMap && equalMaps(a, b, iterations)
  if (a instanceof Timestamp) return b instanceof Timestamp && a.nanoseconds === b.nanoseconds
  if (a instanceof Duration) return b instanceof Duration && a.nanoseconds === b.nanoseconds
  if (a instanceof Uint8Array) return b instanceof Uint8Array && Buffer.compare(a, b) === 0
  if (a instanceof TypeValue) return b instanceof TypeValue && runtimeTypeName(a.type) === runtimeTypeName(b.type)
  if (a instanceof OptionalValue) {
    if (!(b instanceof OptionalValue)) return false
    return a.value === undefined || b.value === undefined ? a.value === b.value : equals(a.value, b.value, iterations)
  }
  return a instanceof OpaqueValue && b instanceof OpaqueValue && a.type.name === b.type.name && a.equals(b)
}

function equalLists(a: CelList, b: CelList, iterations: IterationLimit | undefined): boolean {
  if (a.equals) return a.equals(b, iterations)
  if (a.size !== b.size) return false
  for (let index = 0; index < a.size; index++) {
    iterations?.countIteration()
    if (!equals(a.at(index), b.at(index), iterations)) return false
  }
  return true
}

function equalMaps(a: CelMap, b: CelMap, iterations: IterationLimit | undefined): boolean {
  if (a.size !== b.size) return false
  for (const key of a.keys()) {
    iterations?.countIteration()
    const other = b.get(key)
    if (other === undefined || !equals(a.get(key) as Value, other, iterations)) return false
  }
  return true
}

/** Returns a number less than 0, 0, more than 0, or NaN if one is NaN. Throws CelError for values without an order. */
export function compare(a: Value, b: Value): number {
  const [left, right] = [numeric(a), numeric(b)]
  if (left !== undefined && right !== undefined)
    return left < right ? -1 : left > right ? 1 : left >= right ? 0 : Number.NaN
  if (typeof a === 'string' && typeof b === 'string') return compareStrings(a, b)
  if (typeof a === 'boolean' && typeof b === 'boolean') return Number(a) - Number(b)
  if (a instanceof Timestamp && b instanceof Timestamp) return compare(a.nanoseconds, b.nanoseconds)
  if (a instanceof Duration && b instanceof Duration) return compare(a.nanoseconds, b.nanoseconds)
  if (a instanceof Uint8Array && b instanceof Uint8Array) return Buffer.compare(a, b)
  throw noSuchOverload()
}

const surrogate = /[\ud800-\udfff]/

/** Compares by code points, as Go compares UTF-8. JavaScript's order differs beyond the basic plane. */
export function compareStrings(a: string, b: string): number {
  if (a === b) return 0
  if (surrogate.test(a) || surrogate.test(b)) return Buffer.compare(Buffer.from(a), Buffer.from(b))
  return a < b ? -1 : 1
}

export const noSuchOverload = (): CelError => new CelError('no such overload')
