/**
 * Writes protobuf's wire format from the end to the start, as Go's generated code does: the length of a message is
 * known when its bytes are written.
 */

const firstSize = 16 * 1024
/** A larger buffer is not reused for the next message. */
const maxRetained = 1024 * 1024
/** Longer texts are written by Buffer, which is slower for short ones. */
const maxShort = 40

const two31 = 2 ** 31
const two64 = 1n << 64n

export class WireWriter {
  #bytes = Buffer.allocUnsafeSlow(firstSize)
  /** The first byte that is written. */
  #start = firstSize

  /** Returns a copy of the bytes that were written, and begins a new message. */
  finish(): Buffer {
    const result = Buffer.from(this.#bytes.subarray(this.#start))
    if (this.#bytes.length > maxRetained) this.#bytes = Buffer.allocUnsafeSlow(firstSize)
    this.#start = this.#bytes.length
    return result
  }

  /** Forgets what was written, after an error. */
  reset(): void {
    this.#start = this.#bytes.length
  }

  /** Writes the tag of a field, after (that is, in front of) its value. */
  tag(number: number, wireType: number): void {
    this.varint(number * 8 + wireType)
  }

  /** Writes a varint. Negative numbers have ten bytes, as in Go. */
  varint(value: number | bigint): void {
    if (typeof value === 'number' && value >= 0 && value < two31) this.#smallVarint(value)
    else this.#largeVarint(BigInt(value))
  }

  #smallVarint(value: number): void {
    const size = value < 0x80 ? 1 : value < 0x4000 ? 2 : value < 0x200000 ? 3 : value < 0x10000000 ? 4 : 5
    let at = this.#reserve(size)
    const bytes = this.#bytes
    let rest = value
    for (; rest >= 0x80; rest >>>= 7) bytes[at++] = (rest & 0x7f) | 0x80
    bytes[at] = rest
  }

  #largeVarint(value: bigint): void {
    const digits: number[] = []
    let rest = value < 0n ? value + two64 : value
    for (; rest > 0x7fn; rest >>= 7n) digits.push(Number(rest & 0x7fn) | 0x80)
    digits.push(Number(rest))
    this.#bytes.set(digits, this.#reserve(digits.length))
  }

  double(value: number): void {
    const at = this.#reserve(8)
    this.#bytes.writeDoubleLE(value, at)
  }

  /** Writes a text with its length in front. */
  text(value: string): void {
    const length = value.length <= maxShort && isAscii(value) ? this.#ascii(value) : this.#utf8(value)
    this.varint(length)
  }

  #ascii(value: string): number {
    const { length } = value
    const at = this.#reserve(length)
    const bytes = this.#bytes
    for (let i = 0; i < length; i++) bytes[at + i] = value.charCodeAt(i)
    return length
  }

  #utf8(value: string): number {
    const length = Buffer.byteLength(value)
    const at = this.#reserve(length)
    this.#bytes.write(value, at)
    return length
  }

  /** Writes bytes with their length in front. */
  slice(value: Buffer): void {
    const at = this.#reserve(value.length)
    this.#bytes.set(value, at)
    this.varint(value.length)
  }

  /** Writes a message, whose fields `write` writes from the last to the first, with its length in front. */
  message(write: () => void): void {
    const end = this.mark()
    write()
    this.endMessage(end)
  }

  /** The number of bytes behind the current position, for `endMessage`. */
  mark(): number {
    return this.#bytes.length - this.#start
  }

  /** Writes the length of what was written since `mark`. */
  endMessage(mark: number): void {
    this.varint(this.mark() - mark)
  }

  /** Moves the start `size` bytes to the front, and returns it. */
  #reserve(size: number): number {
    if (this.#start < size) this.#grow(size)
    this.#start -= size
    return this.#start
  }

  #grow(size: number): void {
    const used = this.#bytes.subarray(this.#start)
    const larger = Buffer.allocUnsafeSlow(Math.max(2 * this.#bytes.length, used.length + size))
    used.copy(larger, larger.length - used.length)
    this.#start = larger.length - used.length
    this.#bytes = larger
  }
}

function isAscii(text: string): boolean {
  for (let i = 0; i < text.length; i++) if (text.charCodeAt(i) >= 0x80) return false
  return true
}
