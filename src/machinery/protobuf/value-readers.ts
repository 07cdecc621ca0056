/** Reads the values of fields that are not messages of the schema: scalars, lists, maps. */
import { setOwn } from '../../lib/own.ts'
import type { FieldType, StructType } from '../schema.ts'
import { readFieldSet, readIntOrString, readQuantity, readRawJson, readTime } from './well-known.ts'
import { type WireReader, wireTypes } from './wire.ts'

export type JsonObject = Record<string, unknown>

/** Reads a value. `current` is the field's value so far: lists, maps and messages may be split into several fields. */
export interface ValueReader {
  readonly wireType: number
  read(reader: WireReader, wireType: number, current: unknown): unknown
}

/** The types of single values. */
export type ScalarType = Exclude<FieldType, { kind: 'array' } | { kind: 'map' } | { kind: 'any' } | StructType>

export const scalar = (wireType: number, read: (reader: WireReader) => unknown): ValueReader => ({ wireType, read })
const { varint, fixed64, bytes } = wireTypes

const strings = scalar(bytes, (reader) => reader.text())
const base64 = scalar(bytes, (reader) => reader.slice().toString('base64'))
const times = scalar(bytes, (reader) => readTime(reader, 0))
const microTimes = scalar(bytes, (reader) => readTime(reader, 6))
const booleans = scalar(varint, (reader) => reader.unsigned() !== 0)
const int32s = scalar(varint, (reader) => reader.int32())
const int64s = scalar(varint, (reader) => reader.int64())
const doubles = scalar(fixed64, (reader) => reader.double())
const quantities = scalar(bytes, readQuantity)
const intOrStrings = scalar(bytes, readIntOrString)
export const rawJson = scalar(bytes, readRawJson)
export const fieldSets = scalar(bytes, readFieldSet)
export const emptyObjects = scalar(bytes, (reader) => {
  reader.slice()
  return {}
})

/** A list: one item per field, or many numbers in one field (packed). */
export const listOf = (item: ValueReader): ValueReader => ({
  wireType: item.wireType,
  read(reader, wireType, current) {
    const list = (current ?? []) as unknown[]
    // An item without a value (raw JSON) is null in JSON.
    const push = (): unknown => list.push(item.read(reader, item.wireType, undefined) ?? null)
    if (wireType === item.wireType) push()
    else
      reader.message(() => {
        while (!reader.done) push()
      })
    return list
  },
})

/** A map: one entry per field, with key 1 and value 2. `empty` is the value of an entry that has none. */
export const mapOf = (value: ValueReader, empty: unknown): ValueReader => ({
  wireType: bytes,
  read(reader, _wireType, current) {
    const map = (current ?? {}) as JsonObject
    reader.message(() => {
      let key = ''
      let entry: unknown
      while (!reader.done) {
        const { number, wireType } = reader.tag('MapEntry')
        if (number === 1 && wireType === bytes) key = reader.text()
        else if (number === 2 && wireType === value.wireType) entry = value.read(reader, wireType, undefined)
        else reader.skip(wireType)
      }
      setOwn(map, key, entry ?? structuredClone(empty))
    })
    return map
  },
})

/** A list as a map's value, where protobuf allows no list: a message with the items in field 1. */
export const wrapped = (list: ValueReader): ValueReader => ({
  wireType: bytes,
  read: (reader) =>
    reader.message(() => {
      let items: unknown
      while (!reader.done) {
        const { number, wireType } = reader.tag('Items')
        if (number === 1 && wireType === list.wireType) items = list.read(reader, wireType, items)
        else reader.skip(wireType)
      }
      return items
    }),
})

/** Returns Go's zero value, which a map entry without a value has. */
export function emptyOf(type: FieldType): unknown {
  switch (type.kind) {
    case 'struct':
    case 'map':
      return {}
    case 'boolean':
      return false
    case 'integer':
    case 'number':
    case 'int-or-string':
      return 0
    case 'quantity':
      return '0'
    case 'any':
    case 'array':
      return null
    case 'string':
      return ''
  }
}

export function scalarReader(type: ScalarType): ValueReader {
  switch (type.kind) {
    case 'string':
      return stringReader(type.format)
    case 'boolean':
      return booleans
    case 'integer':
      return type.format === 'int32' ? int32s : int64s
    case 'number':
      return doubles
    case 'quantity':
      return quantities
    case 'int-or-string':
      return intOrStrings
    default:
      return type satisfies never
  }
}

function stringReader(format: Extract<FieldType, { kind: 'string' }>['format']): ValueReader {
  switch (format) {
    case undefined:
      return strings
    case 'byte':
      return base64
    case 'date-time':
      return times
    case 'micro-time':
      return microTimes
    default:
      return format satisfies never
  }
}
