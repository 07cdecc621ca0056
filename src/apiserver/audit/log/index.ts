/** The log backend: events as lines of a file, or of the standard output. */
import { ExplainedError } from '../../../lib/explained-error.ts'
import type { AuditBackend, BatchOptions, Mode, ReportLoss, StagedEvent, TruncateOptions } from '../backend.ts'
import { Batcher } from '../batcher.ts'
import { legacyLine } from '../event/legacy-line.ts'
import { truncated } from '../truncate.ts'
import { LogFile, type LogFileOptions } from './log-file.ts'

export const formats = ['json', 'legacy'] as const

export interface LogBackendOptions extends Omit<LogFileOptions, 'log'> {
  /** `-` is the standard output. */
  readonly path: string
  readonly format: (typeof formats)[number]
  readonly mode: Mode
  readonly batch: BatchOptions
  readonly truncate?: TruncateOptions
}

interface Lines {
  append(lines: Uint8Array): void
  close(): void | Promise<void>
}

const standardOutput: Lines = {
  // It may be written later than the bytes are used again.
  append: (lines) => void process.stdout.write(Buffer.from(lines)),
  close: () => {},
}

const stopMs = 5_000

/** Throws an ExplainedError if the file cannot be made. */
export function logBackend(options: LogBackendOptions, lost: ReportLoss, log: (line: string) => void): AuditBackend {
  const { path, mode, format } = options
  const file = path === '-' ? standardOutput : opened(options, log)
  const lineOf = (staged: StagedEvent): string | undefined => {
    if (format === 'legacy') return `${legacyLine(staged.event, staged.stage)}\n`
    const members = truncated(staged, options.truncate, lost)
    return members === undefined ? undefined : `{"kind":"Event","apiVersion":"audit.k8s.io/v1",${members}\n`
  }
  const write = (lines: Uint8Array, events: number): boolean => {
    try {
      file.append(lines)
      return true
    } catch (error) {
      lost('log', events, (error as Error).message)
      return false
    }
  }
  if (mode === 'blocking-strict') {
    return {
      take(staged) {
        const line = lineOf(staged)
        return line !== undefined && write(Buffer.from(line), 1)
      },
      stop: async () => file.close(),
    }
  }
  const turn = new TurnLines(write)
  if (mode === 'blocking') {
    return {
      take(staged) {
        const line = lineOf(staged)
        if (line !== undefined) turn.add(line)
        return true
      },
      async stop() {
        turn.flush()
        await file.close()
      },
    }
  }
  const batcher = new Batcher({ ...options.batch, lost, send: async (lines) => turn.add(lines.join(''), lines.length) })
  return {
    take(staged) {
      const line = lineOf(staged)
      if (line !== undefined) batcher.add(line)
      return true
    },
    async stop() {
      await batcher.stop(stopMs)
      turn.flush()
      await file.close()
    },
  }
}

function opened(options: Omit<LogFileOptions, 'log'>, log: (line: string) => void): LogFile {
  try {
    return new LogFile({ ...options, log })
  } catch (error) {
    throw new ExplainedError(`ensureLogFile: ${(error as Error).message}: choose another file with --audit-log-path`, { cause: error })
  }
}

/** More is not gathered. */
const gatheredBytes = 256 * 1024
const mostBytesOfCharacter = 3

/**
 * Lines of one turn of the event loop are written together, before the network has sent the answers that they are about. They become
 * bytes at once: texts that have to be kept for a while cost the garbage collector more than they did to make.
 */
class TurnLines {
  readonly #write: (lines: Uint8Array, events: number) => boolean
  readonly #bytes = Buffer.allocUnsafeSlow(gatheredBytes)
  readonly #soon = (): void => this.flush()
  #size = 0
  #events = 0

  constructor(write: (lines: Uint8Array, events: number) => boolean) {
    this.#write = write
  }

  add(lines: string, events = 1): void {
    const most = lines.length * mostBytesOfCharacter
    if (this.#size + most > gatheredBytes) this.flush()
    if (most > gatheredBytes) {
      this.#write(Buffer.from(lines), events)
      return
    }
    if (this.#events === 0) setImmediate(this.#soon)
    this.#size += this.#bytes.write(lines, this.#size)
    this.#events += events
  }

  flush(): void {
    if (this.#events === 0) return
    const lines = this.#bytes.subarray(0, this.#size)
    const events = this.#events
    this.#size = 0
    this.#events = 0
    this.#write(lines, events)
  }
}
