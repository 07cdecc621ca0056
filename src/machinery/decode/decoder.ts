/**
 * Compiles a schema type into a function that checks and normalises a parsed value: it drops unknown fields and those
 * that Go's `omitempty` omits, and adds fields that Go always writes.
 */
import { setOwn } from '../../lib/own.ts'
import type { Field, FieldType, StructType } from '../schema.ts'
import { DecodeError } from './decode-error.ts'
import { freeForm, surveyFreeForm } from './decoders/free-form.ts'
import { checkSize, type Decoder, mismatch, type Place, type Plain, type Run } from './decoders/run.ts'
import { scalarDecoder } from './decoders/scalars.ts'
import { fieldPath, type KeyPath } from './duplicate-keys.ts'
import { goType } from './go-type.ts'
import { maxDepth } from './limits/depth.ts'

const isObject = (value: unknown): value is Plain =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

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
  const decodeValue = decoderOf(values, { struct: place.struct })
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
    case 'any':
      return type.object ? lenientDecoder(type.object, place) : freeForm
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
  const decode = decoderOf(type, { struct, named })
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
    this.#others = type.others && decoderOf(type.others, { struct: type.goName })
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
    if (!isObject(value)) return mismatch(value, this.#type, 'struct', place ?? { struct: this.#goName }, run)
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
  let current: FieldType = type
  for (const element of path) {
    if (current.kind === 'struct') {
      const next: FieldType | undefined = current.fields.get(String(element))?.type ?? current.others
      if (!next) return false
      current = next
    } else if (current.kind === 'array') current = current.items
    else if (current.kind === 'map') current = current.values
    else return current.kind === 'any' && current.deduced === true
  }
  return true
}
