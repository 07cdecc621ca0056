/** The log backend: writes events as lines to a file or to standard output. */
import { ExplainedError } from '../../../lib/explained-error.ts'
import type { AuditBackend, BatchOptions, Mode, ReportLoss, StagedEvent, TruncateOptions } from '../backend.ts'
import { Batcher } from '../batcher.ts'
import { legacyLine } from '../event/legacy-line.ts'
import { truncated } from '../truncate.ts'
import { LogFile, type LogFileOptions } from './log-file.ts'
import { eventStart, TurnLines } from './turn-lines.ts'

export const formats = ['json', 'legacy'] as const

export interface LogBackendOptions extends Omit<LogFileOptions, 'log'> {
  /** `-` means standard output. */
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
  // Copied: the write may complete after the buffer is reused.
  append: (lines) => void process.stdout.write(Buffer.from(lines)),
  close: () => {},
}

const stopMs = 5_000

/** Throws an ExplainedError if the file cannot be created. */
export function logBackend(options: LogBackendOptions, lost: ReportLoss, log: (line: string) => void): AuditBackend {
  const { path, mode, format } = options
  const file = path === '-' ? standardOutput : opened(options, log)
  const lineOf = (staged: StagedEvent): string | undefined => {
    if (format === 'legacy') return `${legacyLine(staged.event, staged.stage)}\n`
    const members = truncated(staged, options.truncate, lost)
    return members === undefined ? undefined : `${eventStart}${members}\n`
  }
  /** True if events may be encoded directly to bytes: their length is not needed. */
  const isWhole = format === 'json' && !options.truncate
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
        if (isWhole) {
          turn.addEvent(staged)
          return true
        }
        const line = lineOf(staged)
        if (line !== undefined) turn.addLines(line)
        return true
      },
      async stop() {
        turn.flush()
        await file.close()
      },
    }
  }
  const batcher = new Batcher({
    ...options.batch,
    lost,
    send: async (lines) => turn.addLines(lines.join(''), lines.length),
  })
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
    throw new ExplainedError(`ensureLogFile: ${(error as Error).message}: choose another file with --audit-log-path`, {
      cause: error,
    })
  }
}
