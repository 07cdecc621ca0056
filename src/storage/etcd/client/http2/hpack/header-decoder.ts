/** Decodes blocks of headers (HPACK, RFC 7541). The blocks of a connection share a dynamic table. */
import { Http2Error } from '../http2-error.ts'
import { decodeHuffman } from './huffman.ts'
import { type Header, staticTable } from './static-table.ts'

export type Headers = ReadonlyMap<string, string>

/** The size of the dynamic table that the peer may use, in bytes. The default of HTTP/2. */
const maxTableBytes = 4_096
/** Bytes that an entry of the table counts more than its name and value. */
const entryBytes = 32

export class HeaderDecoder {
  /** The newest entry is the first. */
  readonly #table: Header[] = []
  #tableBytes = 0
  #maxBytes = maxTableBytes
  #block: Buffer = Buffer.alloc(0)
  #at = 0

  /** Returns the headers of a block. If a name is repeated, its last value counts. Throws Http2Error. */
  decode(block: Buffer): Headers {
    this.#block = block
    this.#at = 0
    const headers = new Map<string, string>()
    while (this.#at < block.length) {
      const first = block[this.#at]!
      if (first & 0x80) headers.set(...this.#entry(this.#integer(7)))
      else if (first & 0x40) {
        const header = this.#literal(6)
        this.#add(header)
        headers.set(...header)
      } else if (first & 0x20) this.#resize(this.#integer(5))
      else headers.set(...this.#literal(4))
    }
    return headers
  }

  /** Reads an integer whose first bits are the last ones of the current byte. */
  #integer(bits: number): number {
    const max = (1 << bits) - 1
    let value = this.#byte() & max
    if (value < max) return value
    for (let shift = 0; ; shift += 7) {
      if (shift > 21) throw invalid('an integer is too large')
      const byte = this.#byte()
      value += (byte & 0x7f) << shift
      if (!(byte & 0x80)) return value
    }
  }

  #byte(): number {
    const byte = this.#block[this.#at++]
    if (byte === undefined) throw invalid('it ends within a header')
    return byte
  }

  #literal(bits: number): Header {
    const index = this.#integer(bits)
    const name = index === 0 ? this.#string() : this.#entry(index)[0]
    return [name, this.#string()]
  }

  #string(): string {
    const isHuffman = (this.#block[this.#at] ?? 0) & 0x80
    const length = this.#integer(7)
    const bytes = this.#block.subarray(this.#at, this.#at + length)
    if (bytes.length < length) throw invalid('it ends within a header')
    this.#at += length
    return isHuffman ? decodeHuffman(bytes) : bytes.toString('latin1')
  }

  #entry(index: number): Header {
    const entry = staticTable[index - 1] ?? this.#table[index - 1 - staticTable.length]
    if (!entry) throw invalid(`its table has no entry ${index}`)
    return entry
  }

  #add(header: Header): void {
    this.#table.unshift(header)
    this.#tableBytes += sizeOf(header)
    this.#evict()
  }

  #resize(bytes: number): void {
    if (bytes > maxTableBytes) throw invalid('its table is larger than allowed')
    this.#maxBytes = bytes
    this.#evict()
  }

  #evict(): void {
    while (this.#tableBytes > this.#maxBytes) this.#tableBytes -= sizeOf(this.#table.pop()!)
  }
}

const sizeOf = ([name, value]: Header): number => name.length + value.length + entryBytes

const invalid = (problem: string): Http2Error =>
  new Http2Error('COMPRESSION_ERROR', `a block of headers is not valid: ${problem}`)
