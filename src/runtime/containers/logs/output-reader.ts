/** Reads one output stream of a container from a FIFO or a terminal, until the mark that its keeper writes. */
import { Socket } from 'node:net'
import { ReadStream } from 'node:tty'

export interface OutputReaderOptions {
  /** An open file, which the reader closes. */
  readonly file: number
  readonly isTerminal: boolean
  /** Ends the output; undefined for terminals, which end by themselves. */
  readonly endMark: Buffer | undefined
  /** Returns a promise if nothing must be read until that resolves. */
  readonly onData: (data: Buffer) => Promise<unknown> | undefined
}

export class OutputReader {
  readonly ended: Promise<void>
  readonly #stream: Socket
  readonly #options: OutputReaderOptions
  #held: Buffer = Buffer.alloc(0)
  #end: () => void

  constructor(options: OutputReaderOptions) {
    this.#options = options
    const { file, isTerminal } = options
    this.#stream = isTerminal ? new ReadStream(file) : new Socket({ fd: file, readable: true, writable: false })
    const { promise, resolve } = Promise.withResolvers<void>()
    this.ended = promise
    this.#end = resolve
    this.#stream.on('data', (data) => this.#add(data))
    // A terminal ends with the error EIO.
    this.#stream.on('error', () => this.close())
    this.#stream.on('end', () => this.close())
  }

  /** Stops reading; the rest stays where it is. */
  close(): void {
    this.#stream.destroy()
    this.#end()
  }

  #add(chunk: Buffer): void {
    const { endMark } = this.#options
    const data = this.#held.length > 0 ? Buffer.concat([this.#held, chunk]) : chunk
    const end = endMark ? data.indexOf(endMark) : -1
    if (end >= 0) {
      this.#deliver(data.subarray(0, end))
      this.close()
      return
    }
    const held = endMark ? heldBytes(data, endMark) : 0
    this.#held = Buffer.from(data.subarray(data.length - held))
    this.#deliver(data.subarray(0, data.length - held))
  }

  #deliver(data: Buffer): void {
    if (data.length === 0) return
    const wait = this.#options.onData(data)
    if (!wait) return
    this.#stream.pause()
    void wait.then(() => this.#stream.resume())
  }
}

/** The number of bytes at the end that may be the begin of the mark. */
function heldBytes(data: Buffer, mark: Buffer): number {
  for (let length = Math.min(mark.length - 1, data.length); length > 0; length--)
    if (data.subarray(data.length - length).equals(mark.subarray(0, length))) return length
  return 0
}
