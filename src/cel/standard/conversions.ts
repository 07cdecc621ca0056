/** Conversions between types: `int("1")`, `string(1.5)`, `type(x)`. */
import { sizeOf } from '../evaluation/sizes.ts'
import { typeOf } from '../evaluation/type-of.ts'
import type { FunctionDeclaration, Overload } from '../library.ts'
import {
  boolType,
  bytesType,
  doubleType,
  durationType,
  intType,
  stringType,
  type Type,
  timestampType,
  typeParameter,
  typeType,
  uintType,
} from '../types.ts'
import { CelError, Duration, type Timestamp, TypeValue, UInt, type Value } from '../values.ts'
import { int, timestamp, uint } from './arithmetic.ts'
import { declare, overload, perCharacter, scaled, sizeAt, unbounded } from './declare.ts'
import { formatDouble } from './double-text.ts'
import { formatDuration, formatTime, parseDuration, parseTime } from './time-text.ts'

const fault = (message: string): never => {
  throw new CelError(message)
}
const same = (value: Value): Value => value
const identity = (name: string, type: Type): Overload => overload(`${name}_to_${name}`, [type], type, same)

const digits = /^[+-]?[0-9]+$/
const decimal = /^[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?$/
const second = 1_000_000_000n

function parseInteger(text: string, parser: string): bigint {
  return digits.test(text)
    ? BigInt(text.replace(/^\+/, ''))
    : fault(`strconv.${parser}: parsing "${text}": invalid syntax`)
}

function doubleToInt(value: number): bigint {
  // 2^63 does not fit, and the doubles at the limits are rejected, too.
  return Number.isFinite(value) && value > -(2 ** 63) && value < 2 ** 63
    ? BigInt(Math.trunc(value))
    : fault('integer overflow')
}

function parseDouble(text: string): number {
  if (decimal.test(text)) {
    const value = Number(text)
    return Number.isFinite(value) ? value : fault(`strconv.ParseFloat: parsing "${text}": value out of range`)
  }
  const special = /^([+-]?)(inf|infinity)$/i.exec(text)
  if (special) return special[1] === '-' ? -Infinity : Infinity
  return /^[+-]?nan$/i.test(text) ? Number.NaN : fault(`strconv.ParseFloat: parsing "${text}": invalid syntax`)
}

const booleans: Readonly<Record<string, boolean>> = {
  '1': true,
  t: true,
  T: true,
  true: true,
  True: true,
  TRUE: true,
  '0': false,
  f: false,
  F: false,
  false: false,
  False: false,
  FALSE: false,
}

/** The cost of conversions between strings and bytes, with the minimum and maximum factor of the size. */
const conversionCosts = (minFactor: number, maxFactor: number): Pick<Overload, 'cost' | 'estimate'> => ({
  cost: ([value]) => Math.ceil(sizeOf(value ?? null) * perCharacter),
  estimate: (args) => {
    const size = sizeAt(args, 0)
    return {
      cost: scaled(size, perCharacter),
      size: { min: Math.floor(size.min * minFactor), max: Math.min(size.max * maxFactor, unbounded) },
    }
  },
})

const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

function decode(bytes: Uint8Array): string {
  try {
    return decoder.decode(bytes)
  } catch {
    return fault('invalid UTF-8 in bytes, cannot convert to string')
  }
}

export const conversions: readonly FunctionDeclaration[] = [
  declare(
    'int',
    identity('int64', intType),
    overload('double_to_int64', [doubleType], intType, doubleToInt),
    overload('duration_to_int64', [durationType], intType, (value: Duration) => value.nanoseconds),
    overload('string_to_int64', [stringType], intType, (value: string) => {
      const number = parseInteger(value, 'ParseInt')
      return number >= -(2n ** 63n) && number < 2n ** 63n
        ? number
        : fault(`strconv.ParseInt: parsing "${value}": value out of range`)
    }),
    overload('timestamp_to_int64', [timestampType], intType, (value: Timestamp) =>
      floorDivide(value.nanoseconds, second),
    ),
    overload('uint64_to_int64', [uintType], intType, (value: UInt) => int(value.value)),
  ),
  declare(
    'uint',
    identity('uint64', uintType),
    overload('double_to_uint64', [doubleType], uintType, (value: number) =>
      value >= 0 && value < 2 ** 64 ? new UInt(BigInt(Math.trunc(value))) : fault('unsigned integer overflow'),
    ),
    overload('int64_to_uint64', [intType], uintType, (value: bigint) => uint(value)),
    overload('string_to_uint64', [stringType], uintType, (value: string) => {
      const number = /^[0-9]+$/.test(value)
        ? BigInt(value)
        : fault(`strconv.ParseUint: parsing "${value}": invalid syntax`)
      return number < 2n ** 64n ? new UInt(number) : fault(`strconv.ParseUint: parsing "${value}": value out of range`)
    }),
  ),
  declare(
    'double',
    identity('double', doubleType),
    overload('int64_to_double', [intType], doubleType, (value: bigint) => Number(value)),
    overload('string_to_double', [stringType], doubleType, parseDouble),
    overload('uint64_to_double', [uintType], doubleType, (value: UInt) => Number(value.value)),
  ),
  declare(
    'bool',
    identity('bool', boolType),
    overload('string_to_bool', [stringType], boolType, (value: string) =>
      Object.hasOwn(booleans, value)
        ? (booleans[value] as boolean)
        : fault(`strconv.ParseBool: parsing "${value}": invalid syntax`),
    ),
  ),
  declare(
    'bytes',
    identity('bytes', bytesType),
    overload(
      'string_to_bytes',
      [stringType],
      bytesType,
      (value: string) => new TextEncoder().encode(value),
      conversionCosts(1, 4),
    ),
  ),
  declare(
    'string',
    identity('string', stringType),
    overload('bool_to_string', [boolType], stringType, String),
    overload('bytes_to_string', [bytesType], stringType, decode, conversionCosts(0.25, 1)),
    overload('double_to_string', [doubleType], stringType, formatDouble),
    overload('duration_to_string', [durationType], stringType, (value: Duration) => formatDuration(value.nanoseconds)),
    overload('int64_to_string', [intType], stringType, String),
    overload('timestamp_to_string', [timestampType], stringType, (value: Timestamp) => formatTime(value)),
    overload('uint64_to_string', [uintType], stringType, (value: UInt) => String(value.value)),
  ),
  declare(
    'duration',
    identity('duration', durationType),
    overload('int64_to_duration', [intType], durationType, (value: bigint) => new Duration(value)),
    overload(
      'string_to_duration',
      [stringType],
      durationType,
      (value: string) => new Duration(parseDuration(value) ?? fault(`time: invalid duration "${value}"`)),
    ),
  ),
  declare(
    'timestamp',
    identity('timestamp', timestampType),
    overload('int64_to_timestamp', [intType], timestampType, (value: bigint) => timestamp(value * second)),
    overload('string_to_timestamp', [stringType], timestampType, (value: string) => {
      const time =
        parseTime(value) ??
        fault(`parsing time "${value}" as "2006-01-02T15:04:05Z07:00": cannot parse "${value}" as "2006"`)
      return timestamp(time.nanoseconds, time.offset)
    }),
  ),
  declare(
    'type',
    overload(
      'type',
      [typeParameter('A')],
      typeType(typeParameter('A')),
      (value: Value) => new TypeValue(typeOf(value)),
    ),
  ),
]

const floorDivide = (value: bigint, by: bigint): bigint => value / by - (value % by < 0n ? 1n : 0n)
