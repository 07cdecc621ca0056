/**
 * Arithmetic of 64-bit integers without overflow and of doubles, and `+` and `-` for times, strings, bytes and lists.
 */
import { sizeOf } from '../evaluation/sizes.ts'
import type { FunctionDeclaration, Overload } from '../library.ts'
import {
  bytesType,
  doubleType,
  durationType,
  intType,
  listType,
  stringType,
  type Type,
  timestampType,
  typeParameter,
  uintType,
} from '../types.ts'
import { CelError, CelList, Duration, Timestamp, UInt, type Value } from '../values.ts'
import { declare, fixed, overload, perCharacter, plus, scaled, sizeAt } from './declare.ts'

const maxInt = 2n ** 63n - 1n
const minInt = -(2n ** 63n)
const maxUint = 2n ** 64n - 1n

/** Checks that `value` fits an int64. Throws CelError. */
export function int(value: bigint): bigint {
  if (value > maxInt || value < minInt) throw new CelError('integer overflow')
  return value
}

/** Checks that `value` fits a uint64. Throws CelError. */
export function uint(value: bigint): UInt {
  if (value > maxUint || value < 0n) throw new CelError('unsigned integer overflow')
  return new UInt(value)
}

export function duration(nanoseconds: bigint): Duration {
  if (nanoseconds > maxInt || nanoseconds < minInt) throw new CelError('integer overflow')
  return new Duration(nanoseconds)
}

const second = 1_000_000_000n
export const firstMoment = -62_135_596_800n * second
const lastMoment = 253_402_300_800n * second - 1n

/** Creates a timestamp in the years 1 to 9999. Throws CelError. */
export function timestamp(nanoseconds: bigint, offset = 0): Timestamp {
  if (nanoseconds < firstMoment || nanoseconds > lastMoment) throw new CelError('timestamp overflow')
  return new Timestamp(nanoseconds, offset)
}

const notZero = (divisor: bigint, what: string): bigint => {
  if (divisor === 0n) throw new CelError(`${what} by zero`)
  return divisor
}

/** The concatenation of two lists, without copying. */
class Concatenation extends CelList {
  private readonly first: CelList
  private readonly second: CelList
  readonly size: number

  constructor(first: CelList, second: CelList) {
    super()
    this.first = first
    this.second = second
    this.size = first.size + second.size
  }
  at(index: number): Value {
    return index < this.first.size ? this.first.at(index) : this.second.at(index - this.first.size)
  }
}

const pair = (id: string, type: Type, evaluate: Parameters<typeof overload>[3]): Overload =>
  overload(id, [type, type], type, evaluate)

/** The cost of a concatenation. Strings and bytes are copied, lists are not. */
const concatenationCosts = (copied: boolean): Parameters<typeof overload>[4] => ({
  cost: copied ? (args) => Math.ceil((sizeOf(args[0] as Value) + sizeOf(args[1] as Value)) * perCharacter) : undefined,
  estimate: (args) => {
    const size = plus(sizeAt(args, 0), sizeAt(args, 1))
    return { cost: copied ? scaled(size, perCharacter) : fixed(1), size }
  },
})

const listOfA = listType(typeParameter('A'))

export const arithmetic: readonly FunctionDeclaration[] = [
  declare(
    '_+_',
    pair('add_int64', intType, (a: bigint, b: bigint) => int(a + b)),
    pair('add_uint64', uintType, (a: UInt, b: UInt) => uint(a.value + b.value)),
    pair('add_double', doubleType, (a: number, b: number) => a + b),
    overload(
      'add_string',
      [stringType, stringType],
      stringType,
      (a: string, b: string) => a + b,
      concatenationCosts(true),
    ),
    overload(
      'add_bytes',
      [bytesType, bytesType],
      bytesType,
      (a: Uint8Array, b: Uint8Array) => new Uint8Array(Buffer.concat([a, b])),
      concatenationCosts(true),
    ),
    overload(
      'add_list',
      [listOfA, listOfA],
      listOfA,
      (a: CelList, b: CelList) => a.plus?.(b) ?? new Concatenation(a, b),
      concatenationCosts(false),
    ),
    pair('add_duration_duration', durationType, (a: Duration, b: Duration) => duration(a.nanoseconds + b.nanoseconds)),
    overload('add_duration_timestamp', [durationType, timestampType], timestampType, (a: Duration, b: Timestamp) =>
      timestamp(a.nanoseconds + b.nanoseconds, b.offset),
    ),
    overload('add_timestamp_duration', [timestampType, durationType], timestampType, (a: Timestamp, b: Duration) =>
      timestamp(a.nanoseconds + b.nanoseconds, a.offset),
    ),
  ),
  declare(
    '_-_',
    pair('subtract_int64', intType, (a: bigint, b: bigint) => int(a - b)),
    pair('subtract_uint64', uintType, (a: UInt, b: UInt) => uint(a.value - b.value)),
    pair('subtract_double', doubleType, (a: number, b: number) => a - b),
    pair('subtract_duration_duration', durationType, (a: Duration, b: Duration) =>
      duration(a.nanoseconds - b.nanoseconds),
    ),
    overload('subtract_timestamp_duration', [timestampType, durationType], timestampType, (a: Timestamp, b: Duration) =>
      timestamp(a.nanoseconds - b.nanoseconds, a.offset),
    ),
    overload(
      'subtract_timestamp_timestamp',
      [timestampType, timestampType],
      durationType,
      (a: Timestamp, b: Timestamp) => duration(a.nanoseconds - b.nanoseconds),
    ),
  ),
  declare(
    '_*_',
    pair('multiply_int64', intType, (a: bigint, b: bigint) => int(a * b)),
    pair('multiply_uint64', uintType, (a: UInt, b: UInt) => uint(a.value * b.value)),
    pair('multiply_double', doubleType, (a: number, b: number) => a * b),
  ),
  declare(
    '_/_',
    pair('divide_int64', intType, (a: bigint, b: bigint) => int(a / notZero(b, 'division'))),
    pair('divide_uint64', uintType, (a: UInt, b: UInt) => uint(a.value / notZero(b.value, 'division'))),
    pair('divide_double', doubleType, (a: number, b: number) => a / b),
  ),
  declare(
    '_%_',
    pair('modulo_int64', intType, (a: bigint, b: bigint) => a % notZero(b, 'modulus')),
    pair('modulo_uint64', uintType, (a: UInt, b: UInt) => uint(a.value % notZero(b.value, 'modulus'))),
  ),
  declare(
    '-_',
    overload('negate_int64', [intType], intType, (a: bigint) => int(-a)),
    overload('negate_double', [doubleType], doubleType, (a: number) => -a),
  ),
]
