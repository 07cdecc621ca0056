/** The text of a log for one request: selects lines by time and stream, joins partial ones, and adds timestamps. */
import type { LogOptions } from '../../node/server/log-options.ts'
import { fixedTime, type LogLine, type ParseLine, parserFor } from './log-lines.ts'

export type LineSelection = Pick<LogOptions, 'sinceMs' | 'stream' | 'timestamps'>

const lineEnd = Buffer.from('\n')

export class LogText {
  readonly #selection: LineSelection
  readonly #reportBadLine: (line: Buffer) => void
  /** Chosen by the first line that is in a known format. */
  #parse: ParseLine | undefined
  /** Streams whose last line goes on in their next one. */
  readonly #unfinished = new Set<string>()

  constructor(selection: LineSelection, reportBadLine: (line: Buffer) => void) {
    this.#selection = selection
    this.#reportBadLine = reportBadLine
  }

  /** Adds the text of a line to `pieces`. Returns false for a line in another format, which is reported. */
  add(line: Buffer, pieces: Buffer[]): boolean {
    this.#parse ??= parserFor(line)
    const parsed = this.#parse?.(line)
    if (!parsed) {
      this.#reportBadLine(line)
      return false
    }
    const isContinued = this.#unfinished.has(parsed.stream)
    if (parsed.isComplete) this.#unfinished.delete(parsed.stream)
    else this.#unfinished.add(parsed.stream)
    if (!this.#isSelected(parsed)) return true
    if (this.#selection.timestamps && !isContinued) pieces.push(Buffer.from(`${fixedTime(parsed.time)} `))
    pieces.push(parsed.text)
    if (parsed.isComplete) pieces.push(lineEnd)
    return true
  }

  #isSelected({ stream, time }: LogLine): boolean {
    const { stream: wanted, sinceMs } = this.#selection
    if (wanted !== 'All' && wanted.toLowerCase() !== stream) return false
    return sinceMs === undefined || Date.parse(time) >= sinceMs
  }
}
