/**
 * Decodes messages of kinds. A decoder is compiled from the kind's schema and field numbers at its first use. The
 * result equals `JSON.parse` of the same object; `decode` makes it canonical.
 */
import { setOwn } from '../../lib/own.ts'
import { DecodeError } from '../decode/decode-error.ts'
import type { FieldType, StructType } from '../schema.ts'
import { readIntOrString, readQuantity, readRawJson, readSchemaOr, readTime, type SchemaForm } from './well-known.ts'
import { WireReader, wireTypes } from './wire.ts'

/**
 * Returns the field numbers of a definition's message: `NAME:NUMBER`, separated by spaces. `+TYPE:NUMBER` is a message
 * whose fields are inlined in JSON (`+VolumeSource:2`; with its package if that differs). `NAME/FORM:NUMBER` names a
 * form that the schema does not have (see `SchemaForm`; `object`: a message without fields). Returns undefined if the
 * protobuf form is unknown.
 */
export type FieldNumbers = (definition: string) => string | undefined

type JsonObject = Record<string, unknown>

/** Reads a value. `current` is the field's value so far: lists, maps and messages may be split into several fields. */
interface ValueReader {
  readonly wireType: number
  read(reader: WireReader, wireType: number, current: unknown): unknown
}

interface MessageField {
  /** The name in JSON. Undefined: the fields of the message are inlined. */
  readonly name?: string
  readonly value: ValueReader
  readonly packed: boolean
}

interface Message {
  readonly goName: string
  readonly fields: readonly (MessageField | undefined)[]
}

/** Decodes messages of kinds. An instance caches the decoders that it compiles. */
export interface MessageDecoder {
  /** Returns true if the protobuf form of the type is known. */
  isKnown(type: StructType): boolean
  /** Throws DecodeError. */
  decode(type: StructType, bytes: Buffer): JsonObject
}

const wrongWireType = (wireType: number, name: string): DecodeError =>
  new DecodeError(`proto: wrong wireType = ${wireType} for field ${name.slice(0, 1).toUpperCase()}${name.slice(1)}`)

function readFields(reader: WireReader, { goName, fields }: Message, into: JsonObject): JsonObject {
  while (!reader.done) {
    const { number, wireType } = reader.tag(goName)
    const field = fields[number]
    if (!field) {
      reader.skip(wireType)
      continue
    }
    const { name, value, packed } = field
    if (wireType !== value.wireType && !(packed && wireType === wireTypes.bytes))
      throw wrongWireType(wireType, name ?? goName)
    if (name === undefined) value.read(reader, wireType, into)
    else {
      const result = value.read(reader, wireType, into[name])
      if (result !== undefined) into[name] = result
    }
  }
  return into
}

const scalar = (wireType: number, read: (reader: WireReader) => unknown): ValueReader => ({ wireType, read })
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
const rawJson = scalar(bytes, readRawJson)
const emptyObjects = scalar(bytes, (reader) => {
  reader.slice()
  return {}
})

/** A list: one item per field, or many numbers in one field (packed). */
const listOf = (item: ValueReader): ValueReader => ({
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
const mapOf = (value: ValueReader, empty: unknown): ValueReader => ({
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
const wrapped = (list: ValueReader): ValueReader => ({
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
function emptyOf(type: FieldType): unknown {
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

/** Creates a decoder for messages with the field numbers of `numbersOf`. */
export function messageDecoder(numbersOf: FieldNumbers): MessageDecoder {
  const messages = new Map<StructType, Message>()

  /** Compiles the message of `definition`. `owner` has the types of its fields: the type itself, or its parent. */
  function compile(definition: string, owner: StructType): Message {
    const fields: (MessageField | undefined)[] = []
    for (const entry of (numbersOf(definition) ?? '').split(' ')) {
      const colon = entry.lastIndexOf(':')
      const number = Number(entry.slice(colon + 1))
      const [name = '', form] = entry.slice(0, colon).split('/')
      if (name.startsWith('+')) {
        const inlined = name.includes('.')
          ? name.slice(1)
          : `${definition.slice(0, definition.lastIndexOf('.'))}.${name.slice(1)}`
        const message = compile(inlined, owner)
        fields[number] = {
          value: {
            wireType: bytes,
            read: (reader, _, into) => reader.message(() => readFields(reader, message, into as JsonObject)),
          },
          packed: false,
        }
        continue
      }
      // A field that the schema no longer has is skipped like an unknown one.
      const type = owner.fields.get(name)?.type
      const value = type && valueReader(type, form, owner)
      if (value) fields[number] = { name, value, packed: type.kind === 'array' && value.wireType !== bytes }
    }
    return { goName: definition.slice(definition.lastIndexOf('.') + 1), fields }
  }

  function messageOf(type: StructType): Message {
    let message = messages.get(type)
    if (!message) {
      message = compile(type.definition, type)
      messages.set(type, message)
    }
    return message
  }

  const structOf = (type: StructType): ValueReader => ({
    wireType: bytes,
    read: (reader, _, current) =>
      reader.message(() => readFields(reader, messageOf(type), (current ?? {}) as JsonObject)),
  })

  /** Returns undefined if the protobuf form is unknown. */
  function valueReader(type: FieldType, form: string | undefined, owner: StructType): ValueReader | undefined {
    switch (type.kind) {
      case 'string':
        return type.format === 'byte'
          ? base64
          : type.format === 'date-time'
            ? times
            : type.format === 'micro-time'
              ? microTimes
              : strings
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
      case 'any': {
        if (form === 'object') return emptyObjects
        if (form === undefined) return rawJson
        const schema = structOf(owner)
        return scalar(bytes, (reader) =>
          readSchemaOr(reader, form as SchemaForm, (inner) => schema.read(inner, bytes, undefined)),
        )
      }
      case 'array': {
        const item = valueReader(type.items, form, owner)
        return item && listOf(item)
      }
      case 'map': {
        const value = valueReader(type.values, form, owner)
        return value && mapOf(type.values.kind === 'array' ? wrapped(value) : value, emptyOf(type.values))
      }
      case 'struct':
        return numbersOf(type.definition) === undefined ? undefined : structOf(type)
    }
  }

  return {
    isKnown: (type) => numbersOf(type.definition) !== undefined,
    decode: (type, message) => readFields(new WireReader(message), messageOf(type), {}),
  }
}
