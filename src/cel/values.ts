/**
 * CEL's values at run time. Booleans, strings and doubles are JavaScript's, an int is a bigint, bytes are a Uint8Array;
 * the rest are the classes below. Lists and maps are narrow, so that JSON can be looked at through them without being
 * copied (adapt.ts).
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

/** A length of time in nanoseconds. */
export class Duration {
  readonly nanoseconds: bigint
  constructor(nanoseconds: bigint) {
    this.nanoseconds = nanoseconds
  }
}

/**
 * A moment: nanoseconds since 1970. It is told in the zone in which it was written, which is `offset` minutes ahead of
 * UTC.
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
  /** Of lists that are the same in any order: whether this is `other`. */
  equals?(other: CelList, turns?: { turn(): void }): boolean
  /** Of lists that hold nothing twice: `this + other`. */
  plus?(other: CelList): CelList

  *[Symbol.iterator](): Generator<Value> {
    for (let index = 0; index < this.size; index++) yield this.at(index)
  }
}

/**
 * A map, or an object with fields. Keys are bool, int, uint or string. Equal numbers are the same key: `get(1n)` finds
 * what stands at `1u` or `1.0`.
 */
export abstract class CelMap {
  abstract readonly size: number
  /** Undefined: there is no such key. */
  abstract get(key: Value): Value | undefined
  abstract keys(): Iterable<Value>
  /** What `key in map` tells. */
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
  /** Whether `other`, an opaque value of the same type, is the same. */
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
 * A fault while an expression is evaluated, such as `division by zero`; it is thrown, and `&&` and `||` may absorb it.
 * It is no Error, because faults are ordinary here (`has()`-less rules over optional fields) and stack traces are dear.
 */
export class CelError {
  readonly message: string
  constructor(message: string) {
    this.message = message
  }
}

/** Evaluation has cost more than it may. Nothing absorbs this. */
export class CostLimitExceeded {
  readonly message = 'operation cancelled: actual cost limit exceeded'
}

/** The list of these values. */
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

/** What a map's keys are compared by: equal numbers of different types have the same. Undefined: this can be no key. */
export function mapKey(key: Value): string | bigint | boolean | undefined {
  if (typeof key === 'string' || typeof key === 'bigint' || typeof key === 'boolean') return key
  if (key instanceof UInt) return key.value
  if (typeof key === 'number' && Number.isInteger(key)) return BigInt(key)
  return undefined
}

/** A map made of entries, in their order. */
export class EntryMap extends CelMap {
  private readonly entries = new Map<string | bigint | boolean, { readonly key: Value; readonly value: Value }>()

  /** Puts an entry in. Throws CelError for a key that is there already, or cannot be one. */
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
