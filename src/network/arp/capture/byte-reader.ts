/** Reads a stream in pieces of given sizes. */
export class ByteReader {
  readonly #chunks: AsyncIterator<Buffer>
  #rest: Buffer = Buffer.alloc(0)

  constructor(stream: AsyncIterable<Buffer>) {
    this.#chunks = stream[Symbol.asyncIterator]()
  }

  /** Returns the next bytes: fewer than `size` at the end of the stream. */
  async take(size: number): Promise<Buffer> {
    const parts: Buffer[] = [this.#rest]
    let length = this.#rest.length
    while (length < size) {
      const { value, done } = await this.#chunks.next()
      if (done) break
      parts.push(value)
      length += value.length
    }
    const all = Buffer.concat(parts)
    this.#rest = all.subarray(size)
    return all.subarray(0, size)
  }
}
