/** Turns the output of a container into lines of CRI's log format: `TIME STREAM F|P TEXT`. */

/** Longer lines are written in parts, as containerd does. In bytes. */
const maxLineBytes = 16 * 1024

const newline = 10
const carriageReturn = 13

export type OutputStream = 'stdout' | 'stderr'

export class LogLines {
  readonly #stream: OutputStream
  /** Terminals end lines with a carriage return, too, which is not a part of them. */
  readonly #isTerminal: boolean
  #rest: Buffer = Buffer.alloc(0)

  constructor(stream: OutputStream, isTerminal: boolean) {
    this.#stream = stream
    this.#isTerminal = isTerminal
  }

  /** The text after the last line break, of which nothing is in the log. */
  get rest(): Buffer {
    return this.#rest
  }

  /** Takes output, and returns the lines that it completes. `at` is a time as `timestamp` returns it. */
  add(chunk: Buffer, at: string): Buffer {
    const data = this.#rest.length > 0 ? Buffer.concat([this.#rest, chunk]) : chunk
    const parts: Buffer[] = []
    const full = Buffer.from(`${at} ${this.#stream} F `)
    const partial = Buffer.from(`${at} ${this.#stream} P `)
    let start = 0
    for (;;) {
      const end = data.indexOf(newline, start)
      const length = (end < 0 ? data.length : end) - start
      if (length > maxLineBytes) {
        parts.push(partial, data.subarray(start, start + maxLineBytes), lineBreak)
        start += maxLineBytes
        continue
      }
      if (end < 0) break
      const isReturn = this.#isTerminal && end > start && data[end - 1] === carriageReturn
      parts.push(full, isReturn ? data.subarray(start, end - 1) : data.subarray(start, end), lineBreak)
      start = end + 1
    }
    // A copy, so that a few bytes do not hold the whole chunk.
    this.#rest = Buffer.from(data.subarray(start))
    return Buffer.concat(parts)
  }

  /** Returns the incomplete line at the end of the output as a part of one, so that readers add no line break. */
  end(at: string): Buffer {
    const rest = this.#rest
    this.#rest = Buffer.alloc(0)
    return rest.length === 0 ? rest : Buffer.concat([Buffer.from(`${at} ${this.#stream} P `), rest, lineBreak])
  }
}

const lineBreak = Buffer.from('\n')

/** The current time in the form of RFC 3339 with nine digits. */
export function timestamp(ms = performance.timeOrigin + performance.now()): string {
  const nanoseconds = Math.floor((ms % 1000) * 1_000_000)
  return `${new Date(ms).toISOString().slice(0, 19)}.${String(nanoseconds).padStart(9, '0')}Z`
}
