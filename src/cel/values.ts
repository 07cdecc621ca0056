/**
 * CEL's values at run time. Booleans, strings and doubles are JavaScript's, an int is a bigint, bytes are a Uint8Array;
 * the others are the classes below. Lists and maps are narrow interfaces, so that they can wrap JSON without copying
 * (adapt.ts).
 */
import type { ObjectType, OpaqueType, Type } from './types.ts'

export type Value =
  | null
  | boolean
  | bigint
  | UInt
  | number
  | string
  | Uint8Array
  | Duration
  | Timestamp
  | CelList
  | CelMap
  | OptionalValue
  | OpaqueValue
  | TypeValue

/** An unsigned integer of 64 bits. */
export class UInt {
  readonly value: bigint
  constructor(value: bigint) {
    this.value = value
  }
}

/** A duration in nanoseconds. */
export class Duration {
  readonly nanoseconds: bigint
  constructor(nanoseconds: bigint) {
    this.nanoseconds = nanoseconds
  }
}

/**
 * A timestamp in nanoseconds since 1970. It is printed in its original zone, `offset` minutes east of UTC.
 */
export class Timestamp {
  readonly nanoseconds: bigint
  readonly offset: number
  constructor(nanoseconds: bigint, offset = 0) {
    this.nanoseconds = nanoseconds
    this.offset = offset
  }
}

/** A list. `at` is only called with 0 ≤ index < size. */
export abstract class CelList {
  abstract readonly size: number
  abstract at(index: number): Value
  /** Returns true if this list equals `other`. For lists that are compared without regard to order. */
  equals?(other: CelList, iterations?: { countIteration(): void }): boolean
  /** Returns `this + other`. For lists without duplicates. */
  plus?(other: CelList): CelList

  *[Symbol.iterator](): Generator<Value> {
    for (let index = 0; index < this.size; index++) yield this.at(index)
  }
}

/**
 * A map, or an object with fields. Keys are bool, int, uint or string. Equal numbers are the same key: `get(1n)` also
 * finds `1u` and `1.0`.
 */
export abstract class CelMap {
  abstract readonly size: number
  /** Returns the value of a key, or undefined if there is none. */
  abstract get(key: Value): Value | undefined
  abstract keys(): Iterable<Value>
  /** Returns the value of `key in map`. */
  has(key: Value): boolean {
    return this.get(key) !== undefined
  }
  /** The type of an object with fields; undefined for a map. */
  readonly objectType?: ObjectType
}

/** optional.of(x) and optional.none(). */
export class OptionalValue {
  static readonly none = new OptionalValue(undefined)
  readonly value: Value | undefined
  constructor(value: Value | undefined) {
    this.value = value
  }
}

/** A value of a library's own type. */
export abstract class OpaqueValue {
  abstract readonly type: OpaqueType
  /** Returns true if `other`, an opaque value of the same type, is equal. */
  abstract equals(other: OpaqueValue): boolean
}

/** A type as a value. */
export class TypeValue {
  readonly type: Type
  constructor(type: Type) {
    this.type = type
  }
}

/**
 * An error of evaluating an expression, such as `division by zero`. It is thrown, and `&&` and `||` may absorb it. It
 * does not extend Error, because such errors are common (rules on optional fields without `has()`) and stack traces are
 * slow.
 */
export class CelError {
  readonly message: string
  constructor(message: string) {
    this.message = message
  }
}

/** The evaluation exceeded its cost limit. No operator absorbs this error. */
export class CostLimitExceeded {
  readonly message = 'operation cancelled: actual cost limit exceeded'
}

/** A list of values in an array. */
export class ArrayList extends CelList {
  readonly values: readonly Value[]
  constructor(values: readonly Value[]) {
    super()
    this.values = values
  }
  get size(): number {
    return this.values.length
  }
  at(index: number): Value {
    return this.values[index] as Value
  }
}

/** Returns a key for lookups, which equal numbers of different types share. Undefined if the value cannot be a key. */
export function mapKey(key: Value): string | bigint | boolean | undefined {
  if (typeof key === 'string' || typeof key === 'bigint' || typeof key === 'boolean') return key
  if (key instanceof UInt) return key.value
  if (typeof key === 'number' && Number.isInteger(key)) return BigInt(key)
  return undefined
}

/** A map of entries in insertion order. */
export class EntryMap extends CelMap {
  private readonly entries = new Map<string | bigint | boolean, { readonly key: Value; readonly value: Value }>()

  /** Adds an entry. Throws CelError for a duplicate or invalid key. */
  add(key: Value, value: Value): void {
    const known = mapKey(key)
    if (known === undefined || typeof key === 'number') throw new CelError('unsupported key type')
    if (this.entries.has(known)) throw new CelError('insert failed: key already exists')
    this.entries.set(known, { key, value })
  }
  get size(): number {
    return this.entries.size
  }
  get(key: Value): Value | undefined {
    const known = mapKey(key)
    return known === undefined ? undefined : this.entries.get(known)?.value
  }
  *keys(): Generator<Value> {
    for (const { key } of this.entries.values()) yield key
  }
}
