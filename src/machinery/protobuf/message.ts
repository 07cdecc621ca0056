/**
 * Decodes messages of kinds. A decoder is compiled from the kind's schema and field numbers at its first use. The
 * result equals `JSON.parse` of the same object; `decode` makes it canonical.
 */
import { DecodeError } from '../decode/decode-error.ts'
import type { FieldType, StructType } from '../schema.ts'
import { type FieldNumbers, isFieldSet, numberedFieldsOf } from './field-numbers.ts'
import {
  emptyObjects,
  emptyOf,
  fieldSets,
  type JsonObject,
  listOf,
  mapOf,
  rawJson,
  scalar,
  scalarReader,
  type ValueReader,
  wrapped,
} from './value-readers.ts'
import { readSchemaOr, type SchemaForm } from './well-known.ts'
import { WireReader, wireTypes } from './wire.ts'

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

const wrongWireType = (wireType: number, name: string): DecodeError =>
  new DecodeError(`proto: wrong wireType = ${wireType} for field ${name.slice(0, 1).toUpperCase()}${name.slice(1)}`)

function readFields(reader: WireReader, { goName, fields }: Message, into: JsonObject): JsonObject {
  while (!reader.done) {
    const tag = reader.tagValue(goName)
    const wireType = tag % 8
    const field = fields[Math.floor(tag / 8)]
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

/** Decodes messages of kinds. An instance caches the decoders that it compiles. */
export class MessageDecoder {
  readonly #numbersOf: FieldNumbers
  readonly #messages = new Map<StructType, Message>()

  constructor(numbersOf: FieldNumbers) {
    this.#numbersOf = numbersOf
  }

  /** Returns true if the protobuf form of the type is known. */
  isKnown({ definition }: StructType): boolean {
    return this.#numbersOf(definition) !== undefined
  }

  /** Throws DecodeError. */
  decode(type: StructType, bytes: Buffer): JsonObject {
    return readFields(new WireReader(bytes), this.#messageOf(type), {})
  }

  #messageOf(type: StructType): Message {
    let message = this.#messages.get(type)
    if (!message) {
      message = this.#compile(type.definition, type)
      this.#messages.set(type, message)
    }
    return message
  }

  /** Compiles the message of `definition`. `owner` has the types of its fields: the type itself, or its parent. */
  #compile(definition: string, owner: StructType): Message {
    const fields: (MessageField | undefined)[] = []
    for (const { number, name, form, inlined } of numberedFieldsOf(definition, this.#numbersOf))
      fields[number] = inlined === undefined ? this.#namedField(name, form, owner) : this.#inlinedField(inlined, owner)
    return { goName: definition.slice(definition.lastIndexOf('.') + 1), fields }
  }

  #inlinedField(definition: string, owner: StructType): MessageField {
    const message = this.#compile(definition, owner)
    const read: ValueReader['read'] = (reader, _, into) =>
      reader.message(() => readFields(reader, message, into as JsonObject))
    return { value: { wireType: wireTypes.bytes, read }, packed: false }
  }

  /** A field that the schema no longer has is skipped like an unknown one. */
  #namedField(name: string, form: string | undefined, owner: StructType): MessageField | undefined {
    const type = owner.fields.get(name)?.type
    const value = isFieldSet(owner, name) ? fieldSets : type && this.#valueReader(type, form, owner)
    return value && { name, value, packed: type?.kind === 'array' && value.wireType !== wireTypes.bytes }
  }

  /** Returns undefined if the protobuf form is unknown. */
  #valueReader(type: FieldType, form: string | undefined, owner: StructType): ValueReader | undefined {
    switch (type.kind) {
      case 'any':
        return this.#freeFormReader(form, owner)
      case 'array': {
        const item = this.#valueReader(type.items, form, owner)
        return item && listOf(item)
      }
      case 'map': {
        const value = this.#valueReader(type.values, form, owner)
        return value && mapOf(type.values.kind === 'array' ? wrapped(value) : value, emptyOf(type.values))
      }
      case 'struct':
        return this.isKnown(type) ? this.#structReader(type) : undefined
      default:
        return scalarReader(type)
    }
  }

  #freeFormReader(form: string | undefined, owner: StructType): ValueReader {
    if (form === undefined) return rawJson
    if (form === 'object') return emptyObjects
    const schema = this.#structReader(owner)
    return scalar(wireTypes.bytes, (reader) =>
      readSchemaOr(reader, form as SchemaForm, (inner) => schema.read(inner, wireTypes.bytes, undefined)),
    )
  }

  /** Compiles the message at its first use, since types may be recursive. */
  #structReader(type: StructType): ValueReader {
    return {
      wireType: wireTypes.bytes,
      read: (reader, _, current) =>
        reader.message(() => readFields(reader, this.#messageOf(type), (current ?? {}) as JsonObject)),
    }
  }
}
