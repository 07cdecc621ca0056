/** Reads the fields of a message of protobuf. */

const wireTypes = { varint: 0, fixed64: 1, bytes: 2, fixed32: 5 } as const

export class MessageReader {
  readonly #bytes: Buffer
  #at = 0
  #wireType: number = wireTypes.varint

  constructor(bytes: Buffer) {
    this.#bytes = bytes
  }

  /** Returns the number of the next field; 0 at the end. Read the field, or skip it, then. */
  next(): number {
    if (this.#at >= this.#bytes.length) return 0
    const tag = this.number()
    this.#wireType = tag & 7
    if (tag < 8) throw invalid()
    return tag >>> 3
  }

  /** Reads an integer of up to 53 bits, or a negative one. */
  number(): number {
    let value = 0
    let factor = 1
    for (let i = this.#at; i < this.#at + 7; i++) {
      const byte = this.#bytes[i]
      if (byte === undefined) throw incomplete()
      value += (byte & 0x7f) * factor
      if (byte < 0x80) {
        this.#at = i + 1
        return value
      }
      factor *= 0x80
    }
    return this.#long()
  }

  boolean(): boolean {
    return this.number() !== 0
  }

  /** Returns the content of a field. It shares the memory of the message. */
  bytes(): Buffer {
    const start = this.#take(this.number())
    return this.#bytes.subarray(start, this.#at)
  }

  text(): string {
    const start = this.#take(this.number())
    return this.#bytes.toString('utf8', start, this.#at)
  }

  message(): MessageReader {
    return new MessageReader(this.bytes())
  }

  skip(): void {
    switch (this.#wireType) {
      case wireTypes.varint:
        this.number()
        return
      case wireTypes.fixed64:
        this.#take(8)
        return
      case wireTypes.bytes:
        this.#take(this.number())
        return
      case wireTypes.fixed32:
        this.#take(4)
        return
      default:
        throw invalid()
    }
  }

  /** Returns the position of the next bytes, and continues after them. */
  #take(length: number): number {
    const start = this.#at
    this.#at += length
    if (this.#at > this.#bytes.length) throw incomplete()
    return start
  }

  #long(): number {
    let value = 0n
    for (let shift = 0n; shift < 70n; shift += 7n) {
      const byte = this.#bytes[this.#at++]
      if (byte === undefined) throw incomplete()
      value |= BigInt(byte & 0x7f) << shift
      if (byte < 0x80) break
    }
    return Number(BigInt.asIntN(64, value))
  }
}

const incomplete = (): Error => new Error('etcd sent an incomplete message')
const invalid = (): Error => new Error('etcd sent a message that is not valid')
