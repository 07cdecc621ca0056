/**
 * Compiles a schema type into a function that checks and normalises a parsed value: it drops unknown fields and those
 * that Go's `omitempty` omits, and adds fields that Go always writes.
 */
import { integerOrFloat, isInt64, writeJson } from '../../lib/exact-json.ts'
import { setOwn } from '../../lib/own.ts'
import type { Field, FieldType, StructType } from '../schema.ts'
import { canonicalQuantity, QuantityError } from '../values/quantity.ts'
import { canonicalBase64 } from './base64.ts'
import { conversionFault, type GoKind } from './conversion.ts'
import { DecodeError } from './decode-error.ts'
import { fieldPath, type KeyPath, type PathElement } from './duplicate-keys.ts'
import { goNumberValue, goType, goValue } from './go-type.ts'
import { maxValues, tooManyValues } from './limits/value-limit.ts'
import { canonicalTime } from './timestamp.ts'

/** The limit of nesting levels: deeper trees would exhaust the stack when they are encoded. */
export const maxDepth = 1000

/** The state of one decoding. */
export interface Run {
  readonly root: StructType
  /** The current path, from which error messages are created. */
  readonly path: PathElement[]
  readonly unknown: string[]
  /** True if keys are counted, which detects duplicate keys cheaply. */
  readonly counting: boolean
  /** True if the input may be changed and become the result. Otherwise all parts that may change later are copied. */
  readonly owned: boolean
  keys: number
  items: number
}

/** Returns the decoded value, or undefined if it is omitted. Throws DecodeError. */
export type Decoder = (value: unknown, run: Run) => unknown

/** The innermost struct, and the field in it whose value is decoded. Errors name both. */
interface Place {
  readonly struct: string
  readonly field: string
  readonly named?: string
}

type Plain = Record<string, unknown>

const isObject = (value: unknown): value is Plain =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** Throws the error for a wrong type. `kind` is undefined if Go's type decodes its own JSON. */
function mismatch(
  value: unknown,
  type: string,
  kind: GoKind | undefined,
  { struct }: Place,
  run: Run,
  shown = goValue(value),
): never {
  const names = goPath(run.root, run.path)
  const message =
    `json: cannot unmarshal ${shown} into Go ` +
    `${names.length ? `struct field ${struct}.${names.join('.')}` : 'value'} of type ${type}`
  throw new DecodeError(message, { conversion: conversionFault(value, kind, type) })
}

/** Returns the path of a value as Go names it, with the names of embedded structs (`volumes.VolumeSource.fc`). */
function goPath(root: StructType, path: KeyPath): string[] {
  let type: FieldType | undefined = root
  return path.flatMap((element): string[] => {
    if (typeof element !== 'string') return []
    while (type?.kind === 'array') type = type.items
    if (type?.kind === 'map') type = type.values
    const struct: StructType | undefined = type?.kind === 'struct' ? type : undefined
    type = struct?.fields.get(element)?.type
    return [...(struct?.embeddedIn?.(element) ?? []), element]
  })
}

/** Throws 413 for too many values: the result of a patch may be larger than any body. */
function checkSize({ keys, items }: Run): void {
  if (keys + items > maxValues) throw tooManyValues()
}

/** Returns true for numbers that are not parsed to a JavaScript number: long integers, and floats as their texts. */
const isSpecial = (value: unknown): value is bigint | symbol => typeof value === 'bigint' || typeof value === 'symbol'

/** Converts such a number as Go does if there is no type: to an int64 or a float64. */
function plainNumber(value: bigint | symbol): number | bigint {
  if (typeof value === 'bigint') return integerOrFloat(value)
  const float = floatOf(value)
  if (float === undefined)
    throw new DecodeError(`json: cannot unmarshal ${goNumberValue(value)} into Go value of type float64`)
  return float
}

/** Counts the keys and items of free-form JSON, limits its depth, and converts special numbers, in place. */
function surveyFreeForm(value: unknown, run: Run, depth: number): void {
  if (typeof value !== 'object' || value === null) return
  if (depth > maxDepth)
    throw new DecodeError(`exceeded max depth: ${fieldPath(run.path)} is nested more than ${maxDepth} levels deep`)
  checkSize(run)
  if (Array.isArray(value)) {
    run.items += value.length
    for (let i = 0; i < value.length; i++) {
      const item: unknown = value[i]
      if (typeof item === 'object') surveyFreeForm(item, run, depth + 1)
      else if (isSpecial(item)) value[i] = plainNumber(item)
    }
    return
  }
  for (const key in value) {
    run.keys++
    const member = (value as Plain)[key]
    if (typeof member === 'object') surveyFreeForm(member, run, depth + 1)
    else if (isSpecial(member)) setOwn(value as Plain, key, plainNumber(member))
  }
}

const freeForm: Decoder = (value, run) => {
  if (isSpecial(value)) return plainNumber(value)
  surveyFreeForm(value, run, 0)
  return value
}

/** Decodes an object of the type, or a list of them. Drops unknown fields silently, as Go's own unmarshallers do. */
function lenientDecoder(object: StructType, place: Place): Decoder {
  return (value, run) => {
    const silent: Run = {
      root: run.root,
      path: run.path,
      unknown: [],
      counting: run.counting,
      owned: run.owned,
      keys: run.keys,
      items: run.items,
    }
    const one = (item: unknown): unknown =>
      isObject(item) ? structTable(object).decode(item, silent, place) : freeForm(item, silent)
    const result = Array.isArray(value) ? value.map(one) : one(value)
    run.keys = silent.keys
    run.items = silent.items
    return result
  }
}

/** Converts a long integer or a float's text to a number. Returns undefined beyond float64, and for other values. */
function floatOf(value: unknown): number | undefined {
  if (typeof value !== 'bigint' && typeof value !== 'symbol') return undefined
  const float = Number(typeof value === 'symbol' ? value.description : value)
  return Number.isFinite(float) ? float : undefined
}

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

function scalarDecoder(
  type: Exclude<FieldType, { kind: 'array' } | { kind: 'map' } | StructType>,
  place: Place,
): Decoder {
  const name = goType(type, place.named)
  switch (type.kind) {
    case 'string':
      if (type.format === 'byte')
        return (value, run) =>
          typeof value === 'string' ? canonicalBase64(value) : mismatch(value, name, 'slice', place, run)
      if (type.format) {
        const micro = type.format === 'micro-time'
        return (value, run) =>
          typeof value === 'string'
            ? canonicalTime(value, micro) || undefined
            : mismatch(value, 'string', undefined, place, run)
      }
      return (value, run) => (typeof value === 'string' ? value : mismatch(value, name, 'string', place, run))
    case 'boolean':
      return (value, run) => (typeof value === 'boolean' ? value : mismatch(value, name, 'bool', place, run))
    case 'integer': {
      const { format } = type
      const convert = format === 'int32' ? int32Of : int64Of
      return (value, run) => {
        if (typeof value !== 'number' && typeof value !== 'bigint')
          mismatch(value, name, format, place, run, goNumberValue(value))
        return convert(value) ?? mismatch(value, name, format, place, run, `number ${value}`)
      }
    }
    case 'number':
      return (value, run) =>
        typeof value === 'number'
          ? value
          : (floatOf(value) ?? mismatch(value, name, 'float64', place, run, goNumberValue(value)))
    case 'quantity':
      return (value) => {
        try {
          return canonicalQuantity(
            typeof value === 'string' || typeof value === 'number'
              ? value
              : typeof value === 'symbol'
                ? (value.description ?? '')
                : writeJson(value),
          )
        } catch (error) {
          throw error instanceof QuantityError ? new DecodeError(error.message) : error
        }
      }
    case 'int-or-string':
      return (value, run) => {
        if (typeof value === 'string') return value
        if (typeof value !== 'number' && typeof value !== 'bigint')
          mismatch(value, 'int32', undefined, place, run, goNumberValue(value))
        return int32Of(value) ?? mismatch(value, 'int32', undefined, place, run, `number ${value}`)
      }
    case 'any': {
      const { object } = type
      return object ? lenientDecoder(object, place) : freeForm
    }
    default:
      return type satisfies never
  }
}

/** Returns a factory of Go's zero value, which replaces a null in a list or map. */
function zeroOf(type: FieldType): () => unknown {
  switch (type.kind) {
    case 'struct':
      return () => structTable(type).zero()
    case 'string':
      return type.format === 'date-time' || type.format === 'micro-time' ? () => null : () => ''
    case 'boolean':
      return () => false
    case 'integer':
    case 'number':
    case 'int-or-string':
      return () => 0
    case 'quantity':
      return () => '0'
    default:
      return () => null
  }
}

function arrayDecoder(items: FieldType, place: Place, name: string): Decoder {
  const named = place.named?.startsWith('[]') ? place.named.slice(2) : undefined
  const decodeItem = decoderOf(items, { ...place, named })
  const zero = zeroOf(items)
  return (value, run) => {
    if (!Array.isArray(value)) return mismatch(value, name, 'slice', place, run)
    run.items += value.length
    checkSize(run)
    const result: unknown[] = run.owned ? value : new Array<unknown>(value.length)
    const last = run.path.push(0) - 1
    for (let index = 0; index < value.length; index++) {
      run.path[last] = index
      const item = value[index]
      const decoded = item === null ? zero() : (decodeItem(item, run) ?? zero())
      if (decoded !== result[index]) result[index] = decoded
    }
    run.path.length = last
    return result
  }
}

function mapDecoder(values: FieldType, place: Place, name: string): Decoder {
  const decodeValue = decoderOf(values, { struct: place.struct, field: place.field })
  const zero = zeroOf(values)
  return (value, run) => {
    if (!isObject(value)) return mismatch(value, name, 'map', place, run)
    const result: Plain = run.owned ? value : {}
    const last = run.path.push(0) - 1
    for (const key in value) {
      run.keys++
      run.path[last] = { key }
      const item = value[key]
      const decoded = item === null ? zero() : (decodeValue(item, run) ?? zero())
      if (decoded !== item || result !== value) setOwn(result, key, decoded)
    }
    run.path.length = last
    checkSize(run)
    return result
  }
}

/** A faster mapDecoder for maps of strings, whose values need no change. */
function stringMapDecoder(place: Place, name: string): Decoder {
  return (value, run) => {
    if (!isObject(value)) return mismatch(value, name, 'map', place, run)
    let nulls = false
    for (const key in value) {
      run.keys++
      const item = value[key]
      if (typeof item === 'string') continue
      if (item !== null) mismatch(item, 'string', 'string', place, run)
      nulls = true
    }
    checkSize(run)
    if (!nulls) return run.owned ? value : { ...value }
    const result: Plain = {}
    for (const key in value) setOwn(result, key, value[key] ?? '')
    return result
  }
}

function decoderOf(type: FieldType, place: Place): Decoder {
  switch (type.kind) {
    case 'struct':
      return (value, run) => structTable(type).decode(value, run, place)
    case 'array':
      return arrayDecoder(type.items, place, goType(type, place.named))
    case 'map': {
      const name = goType(type, place.named)
      if (type.values.kind === 'string' && !type.values.format) return stringMapDecoder(place, name)
      return mapDecoder(type.values, place, name)
    }
    default:
      return scalarDecoder(type, place)
  }
}

interface Slot {
  readonly name: string
  readonly decode: Decoder
  /** True if an empty value is omitted. */
  readonly omitEmpty: boolean
  /** True if Go always writes the field. */
  readonly written: boolean
  readonly zero: () => unknown
}

function slotOf(struct: string, name: string, { type, goType: named, keepsEmpty, written = false }: Field): Slot {
  const decode = decoderOf(type, { struct, field: name, named })
  return { name, decode, omitEmpty: !keepsEmpty, written, zero: zeroOf(type) }
}

/** Copies the members before `key` to a new object. */
function membersBefore(value: Plain, key: string): Plain {
  const result: Plain = {}
  for (const name in value) {
    if (name === key) break
    setOwn(result, name, value[name])
  }
  return result
}

const isEmpty = (value: unknown): boolean => {
  if (typeof value !== 'object' || value === null) return value === '' || value === 0 || value === false
  if (Array.isArray(value)) return value.length === 0
  for (const _ in value) return false
  return true
}

/** The decoders of a struct's fields by name. */
class StructTable {
  readonly #slots = new Map<string, Slot>()
  readonly #written: Slot[] = []
  readonly #goName: string
  readonly #type: string
  readonly #others: Decoder | undefined

  constructor(type: StructType) {
    this.#goName = type.goName
    this.#type = goType(type)
    this.#others = type.others && decoderOf(type.others, { struct: type.goName, field: '' })
    for (const [name, field] of type.fields) {
      const slot = slotOf(type.goName, name, field)
      this.#slots.set(name, slot)
      if (field.written) this.#written.push(slot)
    }
  }

  /** Returns Go's zero value of the struct in JSON. */
  zero(): Plain {
    const result: Plain = {}
    for (const { name, zero } of this.#written) result[name] = zero()
    return result
  }

  decode(value: unknown, run: Run, place: Place | undefined): Plain {
    if (!isObject(value))
      return mismatch(value, this.#type, 'struct', place ?? { struct: this.#goName, field: '' }, run)
    const depth = run.path.push('') - 1
    if (depth > maxDepth)
      throw new DecodeError(`exceeded max depth: the object is nested more than ${maxDepth} levels deep`)
    /** The copy; undefined as long as none is needed. */
    let result: Plain | undefined = run.owned ? undefined : {}
    let written = 0
    for (const key in value) {
      run.keys++
      const slot = this.#slots.get(key)
      const item = value[key]
      let decoded: unknown
      if (slot === undefined) {
        if (this.#others) decoded = this.#others(item, run)
        else this.#unknown(key, item, run, depth)
      } else if (item !== null) {
        run.path[depth] = key
        decoded = slot.decode(item, run)
        if (slot.omitEmpty && isEmpty(decoded)) decoded = undefined
      }
      if (decoded !== item) result ??= membersBefore(value, key)
      if (decoded === undefined) continue
      if (slot?.written) written++
      if (!result) continue
      // No field of a schema has the name of an inherited property.
      if (slot) result[key] = decoded
      else setOwn(result, key, decoded)
    }
    run.path.length = depth
    return written === this.#written.length ? (result ?? value) : this.#complete(result ?? value)
  }

  #unknown(key: string, item: unknown, run: Run, depth: number): void {
    run.path[depth] = key
    if (run.unknown.length < 100) run.unknown.push(fieldPath(run.path))
    if (run.counting) surveyFreeForm(item, run, 0)
  }

  /** Adds the missing fields that Go always writes. */
  #complete(object: Plain): Plain {
    for (const { name, zero } of this.#written) if (!Object.hasOwn(object, name)) object[name] = zero()
    return object
  }
}

const tables = new WeakMap<StructType, StructTable>()

function structTable(type: StructType): StructTable {
  let table = tables.get(type)
  if (!table) {
    table = new StructTable(type)
    tables.set(type, table)
  }
  return table
}

/** Decodes a whole object of the type. Throws DecodeError. */
export const decodeStruct = (type: StructType, value: unknown, run: Run): Record<string, unknown> =>
  structTable(type).decode(value, run, undefined)

/** Returns true if the key at the path is decoded: not inside unknown fields or free-form JSON. */
export function isDecoded(type: StructType, path: KeyPath): boolean {
  let at: FieldType = type
  for (const element of path) {
    if (at.kind === 'struct') {
      const type: FieldType | undefined = at.fields.get(String(element))?.type ?? at.others
      if (!type) return false
      at = type
    } else if (at.kind === 'array') at = at.items
    else if (at.kind === 'map') at = at.values
    else return at.kind === 'any' && at.deduced === true
  }
  return true
}
