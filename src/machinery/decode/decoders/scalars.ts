/** Decodes single values: strings, booleans, numbers, quantities. */
import { isInt64, writeJson } from '../../../lib/exact-json.ts'
import type { FieldType, StructType } from '../../schema.ts'
import { canonicalQuantity, QuantityError } from '../../values/quantity.ts'
import { canonicalBase64 } from '../base64.ts'
import { DecodeError } from '../decode-error.ts'
import { goNumberValue, goType } from '../go-type.ts'
import { canonicalTime } from '../timestamp.ts'
import { floatOf } from './free-form.ts'
import { type Decoder, mismatch, type Place } from './run.ts'

/** The types of single values. */
export type ScalarType = Exclude<FieldType, { kind: 'array' } | { kind: 'map' } | { kind: 'any' } | StructType>
type StringType = Extract<FieldType, { kind: 'string' }>
type IntegerType = Extract<FieldType, { kind: 'integer' }>

export function scalarDecoder(type: ScalarType, place: Place): Decoder {
  const name = goType(type, place.named)
  switch (type.kind) {
    case 'string':
      return stringDecoder(type, name, place)
    case 'boolean':
      return (value, run) => (typeof value === 'boolean' ? value : mismatch(value, name, 'bool', place, run))
    case 'integer':
      return integerDecoder(type, name, place)
    case 'number':
      return (value, run) =>
        typeof value === 'number'
          ? value
          : (floatOf(value) ?? mismatch(value, name, 'float64', place, run, goNumberValue(value)))
    case 'quantity':
      return decodeQuantity
    case 'int-or-string':
      return intOrStringDecoder(place)
    default:
      return type satisfies never
  }
}

function stringDecoder({ format }: StringType, name: string, place: Place): Decoder {
  switch (format) {
    case undefined:
      return (value, run) => (typeof value === 'string' ? value : mismatch(value, name, 'string', place, run))
    case 'byte':
      return (value, run) =>
        typeof value === 'string' ? canonicalBase64(value) : mismatch(value, name, 'slice', place, run)
    case 'date-time':
    case 'micro-time':
      return timeDecoder(format === 'micro-time', place)
    default:
      return format satisfies never
  }
}

/** Omits an empty time. */
function timeDecoder(isMicro: boolean, place: Place): Decoder {
  return (value, run) =>
    typeof value === 'string'
      ? canonicalTime(value, isMicro) || undefined
      : mismatch(value, 'string', undefined, place, run)
}

function integerDecoder({ format }: IntegerType, name: string, place: Place): Decoder {
  const convert = format === 'int32' ? int32Of : int64Of
  return (value, run) => {
    if (typeof value !== 'number' && typeof value !== 'bigint')
      mismatch(value, name, format, place, run, goNumberValue(value))
    return convert(value) ?? mismatch(value, name, format, place, run, `number ${value}`)
  }
}

function intOrStringDecoder(place: Place): Decoder {
  return (value, run) => {
    if (typeof value === 'string') return value
    if (typeof value !== 'number' && typeof value !== 'bigint')
      mismatch(value, 'int32', undefined, place, run, goNumberValue(value))
    return int32Of(value) ?? mismatch(value, 'int32', undefined, place, run, `number ${value}`)
  }
}

const decodeQuantity: Decoder = (value) => {
  try {
    return canonicalQuantity(typeof value === 'string' || typeof value === 'number' ? value : textOf(value))
  } catch (error) {
    throw error instanceof QuantityError ? new DecodeError(error.message) : error
  }
}

/** The JSON of a value; floats are parsed to symbols with their texts. */
const textOf = (value: unknown): string => (typeof value === 'symbol' ? (value.description ?? '') : writeJson(value))

const int32Of = (value: number | bigint): number | undefined =>
  typeof value === 'number' && Number.isInteger(value) && value >= -2147483648 && value <= 2147483647
    ? value
    : undefined

/** Returns the integer in the stored form, or undefined if it does not fit an int64. */
function int64Of(value: number | bigint): number | bigint | undefined {
  if (Number.isSafeInteger(value)) return value
  if (typeof value === 'bigint') return isInt64(value) ? value : undefined
  return Number.isInteger(value) && Math.abs(value) < 2 ** 63 ? BigInt(value) : undefined
}
