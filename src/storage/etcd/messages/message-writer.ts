/**
 * Writes a message of protobuf from its end to its start, so that the length of a nested message is known when its head
 * is written. Fields with default values are omitted.
 */

/** The bytes of a 64-bit integer are at most this many. */
const maxVarintBytes = 10

export class MessageWriter {
  readonly #bytes: Buffer
  #at: number

  /** `maxBytes` is the largest size of the message. */
  constructor(maxBytes: number) {
    this.#bytes = Buffer.allocUnsafe(maxBytes)
    this.#at = maxBytes
  }

  /** Where the bytes that were written last begin. */
  get at(): number {
    return this.#at
  }

  /** Writes a field with an integer from 0 to 2^53 - 1. */
  number(field: number, value: number): void {
    if (value !== 0) this.member(field, value)
  }

  /** Writes a field of a oneof, which is not omitted. */
  member(field: number, value: number): void {
    this.#varint(value)
    this.#varint(field << 3)
  }

  /** Writes a field with an integer of 64 bits. */
  bigint(field: number, value: bigint): void {
    if (value === 0n) return
    const bytes: number[] = []
    let rest = BigInt.asUintN(64, value)
    for (; rest >= 0x80n; rest >>= 7n) bytes.push(Number(rest & 0x7fn) | 0x80)
    bytes.push(Number(rest))
    this.#at -= bytes.length
    this.#bytes.set(bytes, this.#at)
    this.#varint(field << 3)
  }

  text(field: number, value: string): void {
    const end = this.#at
    this.#at -= Buffer.byteLength(value)
    this.#bytes.write(value, this.#at, 'utf8')
    if (value !== '') this.message(field, end)
  }

  bytes(field: number, value: Uint8Array): void {
    if (value.length === 0) return
    const end = this.#at
    this.#at -= value.length
    this.#bytes.set(value, this.#at)
    this.message(field, end)
  }

  /** Makes what was written since `end` was the position the content of a field. It may be empty. */
  message(field: number, end: number): void {
    this.#varint(end - this.#at)
    this.#varint((field << 3) | 2)
  }

  finish(): Buffer {
    return this.#bytes.subarray(this.#at)
  }

  #varint(value: number): void {
    if (value < 0x80) {
      this.#bytes[--this.#at] = value
      return
    }
    let length = 1
    for (let rest = value; rest >= 0x80; rest = Math.floor(rest / 0x80)) length++
    this.#at -= length
    let rest = value
    for (let i = 0; i < length - 1; i++, rest = Math.floor(rest / 0x80))
      this.#bytes[this.#at + i] = (rest % 0x80) | 0x80
    this.#bytes[this.#at + length - 1] = rest
  }
}

/** Bytes of a field with an integer, or of the head of another field, at most. The numbers of fields are below 16. */
export const fieldBytes = 1 + maxVarintBytes
