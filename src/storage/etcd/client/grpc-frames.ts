/** gRPC's framing: each message has a prefix of five bytes, a flag (1: compressed) and its length. */

export const prefixBytes = 5

/** Returns a message with its prefix. */
export function framed(message: Uint8Array): Buffer {
  const frame = Buffer.allocUnsafe(prefixBytes + message.length)
  frame[0] = 0
  frame.writeUInt32BE(message.length, 1)
  frame.set(message, prefixBytes)
  return frame
}

/** Splits the bytes of a stream into messages. */
export class FrameReader {
  #chunks: Buffer[] = []
  #length = 0

  /** Returns the messages that are complete with `chunk`. They share its memory where possible. */
  push(chunk: Buffer): Buffer[] {
    this.#chunks.push(chunk)
    this.#length += chunk.length
    const messages: Buffer[] = []
    for (let next = this.#next(); next; next = this.#next()) messages.push(next)
    return messages
  }

  #next(): Buffer | undefined {
    if (this.#length < prefixBytes) return undefined
    if (this.#chunks[0]!.length < prefixBytes) this.#join()
    const size = prefixBytes + this.#chunks[0]!.readUInt32BE(1)
    if (this.#length < size) return undefined
    if (this.#chunks[0]!.length < size) this.#join()
    const all = this.#chunks[0]!
    this.#length -= size
    if (all.length === size) this.#chunks.shift()
    else this.#chunks[0] = all.subarray(size)
    return all.subarray(prefixBytes, size)
  }

  #join(): void {
    this.#chunks = [Buffer.concat(this.#chunks)]
  }
}
