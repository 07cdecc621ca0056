/** Writes the values of fields that are not messages of the schema: scalars, lists, maps, messages of fixed form. */
import { writeJson } from '../../../lib/exact-json.ts'
import { sortKeys } from '../../../storage/key-order.ts'
import { textOf } from '../../managed-fields/fields-cache.ts'
import type { FieldsV1 } from '../../object.ts'
import type { ScalarType } from '../value-readers.ts'
import { wireTypes } from '../wire.ts'
import type { WireWriter } from './wire-writer.ts'

/** Writes a value without the field's tag. The wire type is that of the tag. */
export interface ValueWriter {
  readonly wireType: number
  readonly write: (writer: WireWriter, value: unknown) => void
}

/** Writes a whole field, tags included. */
export type FieldWriter = (writer: WireWriter, value: unknown) => void

const { varint, fixed64, bytes } = wireTypes

const texts: ValueWriter = { wireType: bytes, write: (writer, value) => writer.text(value as string) }
const base64: ValueWriter = {
  wireType: bytes,
  write: (writer, value) => writer.slice(Buffer.from((value ?? '') as string, 'base64')),
}
const booleans: ValueWriter = { wireType: varint, write: (writer, value) => writer.varint(value === true ? 1 : 0) }
const integers: ValueWriter = {
  wireType: varint,
  write: (writer, value) => writer.varint((value ?? 0) as number | bigint),
}
const doubles: ValueWriter = { wireType: fixed64, write: (writer, value) => writer.double(Number(value ?? 0)) }

/** Is written as an empty message. */
export const zeroTime = ''

/** Seconds and nanoseconds since 1970. */
const times: ValueWriter = {
  wireType: bytes,
  write(writer, value) {
    const end = writer.mark()
    if (value !== zeroTime) writeTime(writer, value as string)
    writer.endMessage(end)
  },
}

function writeTime(writer: WireWriter, text: string): void {
  const ms = Date.parse(text)
  const seconds = Math.floor(ms / 1000)
  const fraction = /\.(\d+)/.exec(text)?.[1]
  writer.varint(fraction ? Number(fraction.slice(0, 9).padEnd(9, '0')) : 0)
  writer.tag(2, varint)
  writer.varint(seconds)
  writer.tag(1, varint)
}

const quantities: ValueWriter = {
  wireType: bytes,
  write(writer, value) {
    const end = writer.mark()
    writer.text(String(value ?? '0'))
    writer.tag(1, bytes)
    writer.endMessage(end)
  },
}

/** A type (0 for a number), the number and the text; all three are written. */
const intOrStrings: ValueWriter = {
  wireType: bytes,
  write(writer, value) {
    const end = writer.mark()
    const isText = typeof value === 'string'
    writer.text(isText ? value : '')
    writer.tag(3, bytes)
    writer.varint(isText ? 0 : ((value ?? 0) as number))
    writer.tag(2, varint)
    writer.varint(isText ? 1 : 0)
    writer.tag(1, varint)
    writer.endMessage(end)
  },
}

/** The JSON of a RawExtension or FieldsV1. */
export const rawJson: ValueWriter = {
  wireType: bytes,
  write(writer, value) {
    const end = writer.mark()
    if (value !== undefined && value !== null) {
      writer.slice(Buffer.from(writeJson(value)))
      writer.tag(1, bytes)
    }
    writer.endMessage(end)
  },
}

/** The JSON of a set of fields, which is cached. */
export const fieldSets: ValueWriter = {
  wireType: bytes,
  write(writer, value) {
    const end = writer.mark()
    writer.text(textOf(value as FieldsV1))
    writer.tag(1, bytes)
    writer.endMessage(end)
  },
}

/** A message without fields. */
export const emptyObjects: ValueWriter = { wireType: bytes, write: (writer) => writer.varint(0) }

export const single =
  (number: number, { wireType, write }: ValueWriter): FieldWriter =>
  (writer, value) => {
    write(writer, value)
    writer.tag(number, wireType)
  }

/** A list: one field per item. */
export const listOf =
  (number: number, { wireType, write }: ValueWriter): FieldWriter =>
  (writer, value) => {
    const items = value as readonly unknown[]
    for (let i = items.length - 1; i >= 0; i--) {
      write(writer, items[i])
      writer.tag(number, wireType)
    }
  }

/** A map: one field per entry, in the order of the keys, with key 1 and value 2. */
export const mapOf =
  (number: number, { wireType, write }: ValueWriter): FieldWriter =>
  (writer, value) => {
    const map = value as Readonly<Record<string, unknown>>
    const keys = Object.keys(map)
    sortKeys(keys)
    for (let i = keys.length - 1; i >= 0; i--) {
      const end = writer.mark()
      write(writer, map[keys[i]!])
      writer.tag(2, wireType)
      writer.text(keys[i]!)
      writer.tag(1, bytes)
      writer.endMessage(end)
      writer.tag(number, bytes)
    }
  }

/** A list as a map's value: a message with the items in field 1. */
export function wrapped(item: ValueWriter): ValueWriter {
  const items = listOf(1, item)
  return {
    wireType: bytes,
    write(writer, value) {
      const end = writer.mark()
      items(writer, value ?? [])
      writer.endMessage(end)
    },
  }
}

export function scalarWriter(type: ScalarType): ValueWriter {
  switch (type.kind) {
    case 'string':
      return type.format === undefined ? texts : type.format === 'byte' ? base64 : times
    case 'boolean':
      return booleans
    case 'integer':
      return integers
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
