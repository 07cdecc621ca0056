/**
 * Encodes objects of kinds to messages in their envelope. An encoder is compiled from the kind's schema and field
 * numbers at its first use. The bytes are those of Go's generated code: fields in the order of their numbers, entries
 * of maps in the order of their keys, and values that Go cannot omit even if they are zero.
 */
import type { Field, FieldType, StructType } from '../../schema.ts'
import { magic } from '../envelope.ts'
import { type FieldNumbers, isFieldSet, numberedFieldsOf } from '../field-numbers.ts'
import { wireTypes } from '../wire.ts'
import {
  emptyObjects,
  type FieldWriter,
  fieldSets,
  listOf,
  mapOf,
  rawJson,
  scalarWriter,
  single,
  type ValueWriter,
  wrapped,
  zeroTime,
} from './value-writers.ts'
import { WireWriter } from './wire-writer.ts'

type Plain = Readonly<Record<string, unknown>>

interface MessageField {
  /** The name in JSON. Undefined: the fields of the message are inlined. */
  readonly name: string | undefined
  readonly write: FieldWriter
  /** The value of an absent field that Go writes nevertheless; undefined if it omits the field. */
  readonly zero: unknown
}

/** The fields of a message, the last one first. */
type Message = readonly MessageField[]

function writeFields(writer: WireWriter, fields: Message, object: Plain): void {
  for (const { name, write, zero } of fields) {
    if (name === undefined) {
      write(writer, object)
      continue
    }
    const value = object[name] ?? zero
    if (value !== undefined) write(writer, value)
  }
}

/** Encodes messages of kinds. An instance caches the encoders that it compiles. */
export class MessageEncoder {
  readonly #numbersOf: FieldNumbers
  readonly #messages = new Map<StructType, Message>()
  readonly #writer = new WireWriter()

  constructor(numbersOf: FieldNumbers) {
    this.#numbersOf = numbersOf
  }

  /** Encodes a canonical object, as `decode` returns it, in an envelope that has its kind and version. */
  encode(type: StructType, object: Plain & { readonly apiVersion: string; readonly kind: string }): Buffer {
    const writer = this.#writer
    try {
      writeEnvelope(writer, object, () => writeFields(writer, this.#messageOf(type), object))
      return Buffer.concat([magic, writer.finish()])
    } finally {
      writer.reset()
    }
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
    return numberedFieldsOf(definition, this.#numbersOf)
      .toSorted((a, b) => b.number - a.number)
      .flatMap(({ number, name, form, inlined }): MessageField[] => {
        if (inlined !== undefined) return [this.#inlinedField(number, inlined, owner)]
        const field = owner.fields.get(name)
        const write = isFieldSet(owner, name)
          ? single(number, fieldSets)
          : field && this.#fieldWriter(number, field.type, form)
        return field && write ? [{ name, write, zero: zeroOf(name, field) }] : []
      })
  }

  #inlinedField(number: number, definition: string, owner: StructType): MessageField {
    const message = this.#compile(definition, owner)
    const value: ValueWriter = { wireType: wireTypes.bytes, write: messageWriter(() => message) }
    return { name: undefined, write: single(number, value), zero: undefined }
  }

  /** Returns undefined if the protobuf form is unknown. */
  #fieldWriter(number: number, type: FieldType, form: string | undefined): FieldWriter | undefined {
    if (type.kind === 'array') {
      const item = this.#valueWriter(type.items, form)
      return item && listOf(number, item)
    }
    if (type.kind === 'map') {
      const { values } = type
      const value = this.#valueWriter(values.kind === 'array' ? values.items : values, form)
      return value && mapOf(number, values.kind === 'array' ? wrapped(value) : value)
    }
    const value = this.#valueWriter(type, form)
    return value && single(number, value)
  }

  /** Returns undefined if there is no form for a single value, such as a list in a list. */
  #valueWriter(type: FieldType, form: string | undefined): ValueWriter | undefined {
    switch (type.kind) {
      case 'any':
        return form === undefined ? rawJson : form === 'object' ? emptyObjects : undefined
      case 'array':
      case 'map':
        return undefined
      case 'struct':
        return this.#numbersOf(type.definition) === undefined
          ? undefined
          : { wireType: wireTypes.bytes, write: messageWriter(() => this.#messageOf(type)) }
      default:
        return scalarWriter(type)
    }
  }
}

/** Compiles the message at its first use, since types may be recursive. */
function messageWriter(messageOf: () => Message): ValueWriter['write'] {
  let message: Message | undefined
  return (writer, value) => {
    message ??= messageOf()
    const end = writer.mark()
    writeFields(writer, message, (value ?? {}) as Plain)
    writer.endMessage(end)
  }
}

/** Go writes fields that are no pointers even if they are zero; JSON omits them. */
function zeroOf(name: string, { type, keepsEmpty, written = false }: Field): unknown {
  if (type.kind === 'struct') return written ? {} : undefined
  // The only time that JSON omits although it is no pointer.
  if (name === 'creationTimestamp') return zeroTime
  if (keepsEmpty && !written) return undefined
  switch (type.kind) {
    case 'string':
      return type.format === undefined ? '' : type.format === 'byte' ? undefined : zeroTime
    case 'boolean':
      return false
    case 'integer':
    case 'number':
      return 0
    default:
      return undefined
  }
}

/** Writes a `runtime.Unknown`: the type, the message, and two empty texts. */
function writeEnvelope(
  writer: WireWriter,
  { apiVersion, kind }: { readonly apiVersion: string; readonly kind: string },
  message: () => void,
): void {
  const { bytes } = wireTypes
  writer.text('')
  writer.tag(4, bytes)
  writer.text('')
  writer.tag(3, bytes)
  writer.message(message)
  writer.tag(2, bytes)
  writer.message(() => {
    writer.text(kind)
    writer.tag(2, bytes)
    writer.text(apiVersion)
    writer.tag(1, bytes)
  })
  writer.tag(1, bytes)
}
