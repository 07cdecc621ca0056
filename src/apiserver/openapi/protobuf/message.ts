/** A builder of protobuf messages, for both versions of gnostic's OpenAPI messages. */
import { writeJson } from '../../../lib/exact-json.ts'

export type Node = Readonly<Record<string, unknown>>

export const isNode = (value: unknown): value is Node =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
export const entries = (value: unknown): [string, unknown][] => (isNode(value) ? Object.entries(value) : [])

const varintLength = (value: number): number => {
  let length = 1
  for (let rest = value; rest > 127; rest = Math.floor(rest / 128)) length++
  return length
}

function writeVarint(value: number, bytes: Buffer, from: number): number {
  let at = from
  let rest = value
  for (; rest > 127; rest = Math.floor(rest / 128)) bytes[at++] = (rest % 128) + 128
  bytes[at++] = rest
  return at
}

/** Wire types of protobuf; a key is eight times the field number plus the wire type. */
const asVarint = 0
const asDouble = 1
const asBytes = 2

/**
 * Builds a protobuf message. Omits fields with proto3's zero value. Nothing is encoded before `finish`, which avoids
 * many small buffers.
 */
export class Message {
  readonly #keys: number[] = []
  readonly #values: (string | number | Message)[] = []
  #length = 0

  #add(key: number, value: string | number | Message, length: number): this {
    this.#keys.push(key)
    this.#values.push(value)
    this.#length += varintLength(key) + length
    return this
  }

  /** Writes a text even if it is empty. */
  presentText(field: number, value: string): this {
    const length = Buffer.byteLength(value)
    return this.#add(field * 8 + asBytes, value, varintLength(length) + length)
  }

  text(field: number, value: unknown): this {
    return typeof value === 'string' && value !== '' ? this.presentText(field, value) : this
  }

  texts(field: number, values: unknown): this {
    if (Array.isArray(values)) for (const value of values) this.presentText(field, String(value))
    return this
  }

  flag(field: number, value: unknown): this {
    return value === true ? this.presentFlag(field, true) : this
  }

  /** Writes a boolean even if it is false. */
  presentFlag(field: number, value: boolean): this {
    return this.#add(field * 8 + asVarint, value ? 1 : 0, 1)
  }

  integer(field: number, value: unknown): this {
    const number = numberOf(value)
    return number > 0 ? this.#add(field * 8 + asVarint, number, varintLength(number)) : this
  }

  double(field: number, value: unknown): this {
    const number = numberOf(value)
    return number === 0 ? this : this.presentDouble(field, number)
  }

  /** Writes a double even if it is 0. */
  presentDouble(field: number, value: number): this {
    return this.#add(field * 8 + asDouble, value, 8)
  }

  /** Writes a nested message, which must be complete; an empty one counts as present. */
  message(field: number, value: Message | undefined): this {
    return value ? this.#add(field * 8 + asBytes, value, varintLength(value.#length) + value.#length) : this
  }

  #write(bytes: Buffer, from: number): number {
    let at = from
    for (const [i, value] of this.#values.entries()) {
      const key = this.#keys[i]!
      at = writeVarint(key, bytes, at)
      if (typeof value === 'number')
        at = key % 8 === asDouble ? bytes.writeDoubleLE(value, at) : writeVarint(value, bytes, at)
      else if (typeof value === 'string') {
        at = writeVarint(Buffer.byteLength(value), bytes, at)
        at += bytes.write(value, at)
      } else at = value.#write(bytes, writeVarint(value.#length, bytes, at))
    }
    return at
  }

  finish(): Buffer {
    const bytes = Buffer.allocUnsafeSlow(this.#length)
    this.#write(bytes, 0)
    return bytes
  }
}

/** Converts a number or bigint; 0 for other types. */
const numberOf = (value: unknown): number =>
  typeof value === 'number' || typeof value === 'bigint' ? Number(value) : 0

/** Encodes any value as YAML; JSON is YAML. */
export const any = (value: unknown): Message => new Message().text(2, writeJson(value))

/** Writes the extensions (`x-…`) of a node to a field of the message. */
export function withExtensions(message: Message, field: number, node: Node): Message {
  for (const [name, value] of Object.entries(node))
    if (name.startsWith('x-')) message.message(field, new Message().text(1, name).message(2, any(value)))
  return message
}

/** Encodes a message, given in pieces, as a field. */
export function fieldOfPieces(number: number, pieces: readonly Buffer[]): Buffer[] {
  const key = number * 8 + asBytes
  const length = pieces.reduce((sum, piece) => sum + piece.length, 0)
  const head = Buffer.alloc(varintLength(key) + varintLength(length))
  writeVarint(length, head, writeVarint(key, head, 0))
  return [head, ...pieces]
}
