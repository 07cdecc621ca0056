/** Splits the bytes of a log file into lines. */

const newline = 0x0a
/** Longer lines are dropped: runtimes write lines of 16 KiB. In bytes. */
const maxLineBytes = 1024 * 1024

const nothing = Buffer.alloc(0)

export class LineSplitter {
  #rest: Buffer = nothing
  #isTooLong = false;

  /** The lines, without their ends, that a chunk contains or completes. */
  *split(chunk: Buffer): Generator<Buffer> {
    let from = 0
    for (let end = chunk.indexOf(newline); end >= 0; end = chunk.indexOf(newline, from)) {
      const line = chunk.subarray(from, end)
      from = end + 1
      if (!this.#isTooLong) yield this.#rest.length === 0 ? line : Buffer.concat([this.#rest, line])
      this.#rest = nothing
      this.#isTooLong = false
    }
    if (this.#isTooLong || from === chunk.length) return
    // Copied, since the chunk's memory may be used for the next one.
    this.#rest = Buffer.concat([this.#rest, chunk.subarray(from)])
    if (this.#rest.length <= maxLineBytes) return
    this.#isTooLong = true
    this.#rest = nothing
  }

  /** Returns the line at the end that has no line break, if there is one, and starts from the beginning. */
  takeRest(): Buffer | undefined {
    const rest = this.#rest
    this.#rest = nothing
    this.#isTooLong = false
    return rest.length > 0 ? rest : undefined
  }
}
