/** Protobuf's wire format: tags, varints, lengths, unknown fields. Throws DecodeErrors with Go's messages. */
import { integer } from '../../lib/exact-json.ts'
import { DecodeError } from '../decode/decode-error.ts'
import { maxValues, tooManyValues } from '../decode/limits/value-limit.ts'

export const wireTypes = { varint: 0, fixed64: 1, bytes: 2, groupStart: 3, groupEnd: 4, fixed32: 5 } as const

/** The number and wire type of a field. */
export interface Tag {
  readonly number: number
  readonly wireType: number
}

/** An entry of a map has three tags: its own, its key's and its value's. */
const maxTags = 3 * maxValues

const two32 = 2 ** 32
const two63 = 2 ** 63

const unexpectedEnd = (): DecodeError => new DecodeError('unexpected EOF')

/** Reads a message's bytes in order. `#end` is the end of the innermost message that is being read. */
export class WireReader {
  readonly bytes: Buffer
  #position = 0
  #end: number
  #depth = 0
  #tags = 0

  constructor(bytes: Buffer) {
    this.bytes = bytes
    this.#end = bytes.length
  }

  /** True if the innermost message has been read to its end. */
  get done(): boolean {
    return this.#position >= this.#end
  }

  /**
   * Reads the tag of the next field of a message of type `message`. Throws DecodeError for invalid numbers and wire
   * types, and 413 if there are too many fields.
   */
  tag(message: string): Tag {
    const value = this.tagValue(message)
    return { number: Math.floor(value / 8), wireType: value % 8 }
  }

  /** The same as one number: the number of the field times 8, and the wire type. Costs no allocation. */
  tagValue(message: string): number {
    if (++this.#tags > maxTags) throw tooManyValues()
    const value = this.unsigned()
    const wireType = value % 8
    const number = Math.floor(value / 8) | 0
    if (wireType === wireTypes.groupEnd) throw new DecodeError(`proto: ${message}: wiretype end group for non-group`)
    if (number <= 0) throw new DecodeError(`proto: ${message}: illegal tag ${number} (wire type ${wireType})`)
    return number * 8 + wireType
  }

  /** Reads a varint as a number ≥ 0, exact up to 2⁵³. */
  unsigned(): number {
    const { bytes } = this
    // Nearly all tags and lengths have one byte.
    if (this.#position < this.#end && bytes[this.#position]! < 0x80) return bytes[this.#position++]!
    let low = 0
    let high = 0
    for (let shift = 0; ; shift += 7) {
      if (shift >= 70) throw new DecodeError('proto: integer overflow')
      if (this.#position >= this.#end) throw unexpectedEnd()
      const byte = bytes[this.#position++]!
      const bits = byte & 0x7f
      if (shift < 28) low += bits * 2 ** shift
      else if (shift === 28) {
        low += (bits & 0xf) * 2 ** 28
        high = bits >>> 4
      } else high += bits * 2 ** (shift - 32)
      if (byte < 0x80) return (high % two32) * two32 + low
    }
  }

  /** Reads a varint as Go's int64. */
  int64(): number | bigint {
    const start = this.#position
    const value = this.unsigned()
    return Number.isSafeInteger(value) ? value : integer(BigInt.asIntN(64, this.#bigVarint(start)))
  }

  /** Reads a varint as Go's int32: higher bits are dropped. */
  int32(): number {
    const value = this.int64()
    return typeof value === 'bigint' ? Number(BigInt.asIntN(32, value)) : value | 0
  }

  double(): number {
    return this.bytes.readDoubleLE(this.#take(8))
  }

  /** Reads the bytes of a length-delimited field. Returns a view, not a copy. */
  slice(): Buffer {
    const length = this.#length()
    const start = this.#take(length)
    return this.bytes.subarray(start, start + length)
  }

  text(): string {
    const length = this.#length()
    const start = this.#take(length)
    return this.bytes.toString('utf8', start, start + length)
  }

  /** Reads a nested message: `read` must read until `done`. Throws DecodeError if messages are nested too deeply. */
  message<T>(read: () => T): T {
    const length = this.#length()
    const start = this.#take(length)
    if (++this.#depth > maxDepth) throw new DecodeError(`exceeded max depth of ${maxDepth} nested messages`)
    const end = this.#end
    this.#position = start
    this.#end = start + length
    const result = read()
    this.#position = this.#end
    this.#end = end
    this.#depth--
    return result
  }

  /** Skips the value of an unknown field. */
  skip(wireType: number): void {
    let groups = 0
    let type = wireType
    for (;;) {
      if (type === wireTypes.varint) this.unsigned()
      else if (type === wireTypes.fixed64) this.#take(8)
      else if (type === wireTypes.bytes) this.#take(this.#length())
      else if (type === wireTypes.groupStart) groups++
      else if (type === wireTypes.groupEnd) {
        if (groups-- === 0) throw new DecodeError('proto: unexpected end of group')
      } else if (type === wireTypes.fixed32) this.#take(4)
      else throw new DecodeError(`proto: illegal wireType ${type}`)
      if (groups === 0) return
      type = this.unsigned() % 8
    }
  }

  #length(): number {
    const length = this.unsigned()
    if (length >= two63) throw new DecodeError('proto: negative length found during unmarshaling')
    return length
  }

  /** Advances by `length` bytes and returns the position of the first. */
  #take(length: number): number {
    const start = this.#position
    if (length > this.#end - start) throw unexpectedEnd()
    this.#position += length
    return start
  }

  #bigVarint(start: number): bigint {
    let value = 0n
    for (let at = start; at < this.#position; at++) value |= BigInt(this.bytes[at]! & 0x7f) << BigInt(7 * (at - start))
    return value
  }
}

const maxDepth = 500
