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

/** The time limit for writing the remaining batches at a stop. */
const stopMs = 5_000

/** Throws an ExplainedError if the file cannot be created. */
export function logBackend(options: LogBackendOptions, lost: ReportLoss, log: (line: string) => void): AuditBackend {
  const file = options.path === '-' ? standardOutput : openFile(options, log)
  const encode = lineEncoder(options, lost)
  const write = reportingWriter(file, lost)
  if (options.mode === 'blocking-strict') return strictBackend(encode, write, file)
  const turn = new TurnLines(write)
  if (options.mode === 'batch') return batchBackend(encode, turn, file, { ...options.batch, lost })
  // Events may be encoded directly to bytes if their length is not needed.
  return options.format === 'json' && !options.truncate
    ? blockingBackend((staged) => turn.addEvent(staged), turn, file)
    : blockingBackend((staged) => addLine(turn, encode(staged)), turn, file)
}

/** Returns the line of an event; undefined if the event is too large. */
type Encode = (staged: StagedEvent) => string | undefined

/** Returns false if the lines are lost. */
type Write = (lines: Uint8Array, events: number) => boolean

function lineEncoder({ format, truncate }: LogBackendOptions, lost: ReportLoss): Encode {
  if (format === 'legacy') return ({ event, stage }) => `${legacyLine(event, stage)}\n`
  return (staged) => {
    const members = truncated(staged, truncate, lost)
    return members === undefined ? undefined : `${eventStart}${members}\n`
  }
}

const reportingWriter =
  (file: Lines, lost: ReportLoss): Write =>
  (lines, events) => {
    try {
      file.append(lines)
      return true
    } catch (error) {
      lost('log', events, (error as Error).message)
      return false
    }
  }

/** Writes each event immediately, so that its request fails if the event is lost. */
const strictBackend = (encode: Encode, write: Write, file: Lines): AuditBackend => ({
  take(staged) {
    const line = encode(staged)
    return line !== undefined && write(Buffer.from(line), 1)
  },
  stop: async () => file.close(),
})

/** Writes events at the end of the event loop turn, before the responses of their requests are sent. */
const blockingBackend = (add: (staged: StagedEvent) => void, turn: TurnLines, file: Lines): AuditBackend => ({
  take(staged) {
    add(staged)
    return true
  },
  async stop() {
    turn.flush()
    await file.close()
  },
})

function addLine(turn: TurnLines, line: string | undefined): void {
  if (line !== undefined) turn.addLines(line)
}

/** Writes events in batches; requests do not wait for them. */
function batchBackend(
  encode: Encode,
  turn: TurnLines,
  file: Lines,
  options: BatchOptions & { readonly lost: ReportLoss },
): AuditBackend {
  const batcher = new Batcher({ ...options, send: async (lines) => turn.addLines(lines.join(''), lines.length) })
  return {
    take(staged) {
      const line = encode(staged)
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

function openFile(options: Omit<LogFileOptions, 'log'>, log: (line: string) => void): LogFile {
  try {
    return new LogFile({ ...options, log })
  } catch (error) {
    throw new ExplainedError(`ensureLogFile: ${(error as Error).message}: choose another file with --audit-log-path`, {
      cause: error,
    })
  }
}
