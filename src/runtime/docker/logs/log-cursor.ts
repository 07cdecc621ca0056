/**
 * The position up to which the engine's log is in that of CRI: the time of the last message of each stream, and how
 * many messages have it, since the pieces of a long line have one time.
 */
import type { OutputStream } from '../../containers/logs/log-lines.ts'
import type { LogMessage } from './log-messages.ts'

interface Mark {
  readonly at: string
  readonly count: number
}

const start: Mark = { at: '', count: 0 }

export type LogMarks = Readonly<Record<OutputStream, Mark>>

export const noMarks: LogMarks = { stdout: start, stderr: start }

export class LogCursor {
  readonly #marks: Record<OutputStream, Mark>
  /** Messages that have to be skipped, as they are repeated. */
  #known: Record<OutputStream, Mark>

  constructor(marks: LogMarks = noMarks) {
    this.#marks = { ...marks }
    this.#known = { ...marks }
  }

  /** The time to read from, as seconds and nanoseconds; undefined for the beginning. */
  get since(): string | undefined {
    const [first = ''] = [this.#marks.stdout.at, this.#marks.stderr.at].sort()
    return first === '' ? undefined : secondsOf(first)
  }

  /** Begins to read again from `since` on. */
  rewind(): void {
    this.#known = { ...this.#marks }
  }

  /** Returns true for a message that is new, and remembers it. */
  accept({ stream, at }: Pick<LogMessage, 'stream' | 'at'>): boolean {
    const known = this.#known[stream]
    if (at < known.at) return false
    if (at === known.at && known.count > 0) {
      this.#known[stream] = { at, count: known.count - 1 }
      return false
    }
    const mark = this.#marks[stream]
    this.#marks[stream] = { at, count: mark.at === at ? mark.count + 1 : 1 }
    return true
  }
}

/** `2026-11-27T14:10:01.229126805Z` → `1795788601.229126805` */
function secondsOf(at: string): string {
  const [, seconds = '', nanoseconds = '0'] = /^(.*?)(?:\.(\d+))?Z$/.exec(at) ?? []
  return `${Date.parse(`${seconds}Z`) / 1000}.${nanoseconds}`
}
