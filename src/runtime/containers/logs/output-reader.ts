/** Reads one output stream of a container through its spool, until the mark that its keeper writes. */
import type { OutputSource, SourceEvents } from './output-source.ts'
import type { Spool } from './spool.ts'

export interface OutputReaderOptions {
  readonly spool: Spool
  readonly open: (events: SourceEvents) => OutputSource
  /** Ends the output; undefined for terminals, which end by themselves. */
  readonly endMark: Buffer | undefined
  /**
   * Gets output, and the number of bytes after it that are read but not delivered. Returns a promise if nothing must be
   * read until that resolves.
   */
  readonly onData: (data: Buffer, held: number) => Promise<unknown> | undefined
}

/** The chunks after which the event loop continues with other work. */
const maxChunks = 16

export class OutputReader {
  readonly ended: Promise<void>
  readonly #options: OutputReaderOptions
  readonly #source: OutputSource
  readonly #end: () => void
  #held: Buffer = Buffer.alloc(0)
  #isPaused = false
  #isClosed = false

  constructor(options: OutputReaderOptions) {
    this.#options = options
    const { promise, resolve } = Promise.withResolvers<void>()
    this.ended = promise
    this.#end = resolve
    this.#source = options.open({ onReady: () => this.#drain(), onEnd: () => this.close() })
    // Output of an earlier runtime may be in the spool. The caller gets nothing before it has this reader.
    setImmediate(() => this.#drain())
  }

  /** The number of bytes that were read and not delivered: the mark, or what may be its begin. */
  get held(): number {
    return this.#held.length
  }

  /** Stops reading; the rest stays where it is. */
  close(): void {
    if (this.#isClosed) return
    this.#isClosed = true
    this.#source.close()
    this.#options.spool.close()
    this.#end()
  }

  #drain(): void {
    for (let chunk = 0; !this.#isClosed && !this.#isPaused; chunk++) {
      if (chunk === maxChunks) return void setImmediate(() => this.#drain())
      const data = this.#options.spool.next()
      if (data.length > 0) this.#add(data)
      else if (this.#source.fill() === 0) return
    }
  }

  #add(chunk: Buffer): void {
    const { endMark } = this.#options
    const data = this.#held.length > 0 ? Buffer.concat([this.#held, chunk]) : chunk
    const end = endMark ? data.indexOf(endMark) : -1
    const held = end >= 0 ? data.length - end : endMark ? heldBytes(data, endMark) : 0
    this.#held = Buffer.from(data.subarray(data.length - held))
    this.#deliver(data.subarray(0, data.length - held))
    if (end >= 0) this.close()
  }

  #deliver(data: Buffer): void {
    if (data.length === 0) return
    const wait = this.#options.onData(data, this.#held.length)
    if (!wait) return
    this.#isPaused = true
    this.#source.pause()
    void wait.then(() => {
      this.#isPaused = false
      if (this.#isClosed) return
      this.#source.resume()
      this.#drain()
    })
  }
}

/** The number of bytes at the end that may be the begin of the mark. */
function heldBytes(data: Buffer, mark: Buffer): number {
  for (let length = Math.min(mark.length - 1, data.length); length > 0; length--)
    if (data.subarray(data.length - length).equals(mark.subarray(0, length))) return length
  return 0
}
