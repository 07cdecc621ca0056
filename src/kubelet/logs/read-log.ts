/**
 * Reads a container's log from its files, as `kubectl logs` prints it: from its start or its last lines, to its end or
 * on, over rotations, until the container has stopped.
 */
import { realpath } from 'node:fs/promises'
import { setTimeout as wait } from 'node:timers/promises'
import { messageOf } from '../../lib/message-of.ts'
import type { LogOptions } from '../../node/server/log-options.ts'
import { LineSplitter } from './line-splitter.ts'
import { type LogFile, openCurrent, openNext, openPrevious } from './log-file.ts'
import { LogText } from './log-text.ts'
import { LogWatcher } from './log-watcher.ts'

export interface LogSource {
  /** The current file, as the runtime names it. */
  readonly path: string
  /** The folders that the file may be in, wherever symbolic links lead. */
  readonly roots: readonly string[]
  /** True while the container may write more. */
  isRunning(): Promise<boolean>
  /** Logs a problem of the file. */
  readonly log: (line: string) => void
}

/** The interval of checks of the file and the container beside notifications, in ms. */
const pollMs = 1_000
/** How long a runtime may write to the old file after it has created the new one, in ms. */
const settleMs = 100
/** How long the file of a running container may be missing, in ms. */
const missingMs = 500

/** Ends when the log does, or when `signal` is aborted. Throws an Error with upstream's message for a missing file. */
export async function* readLog(source: LogSource, options: LogOptions, signal: AbortSignal): AsyncGenerator<Buffer> {
  const reader = new LogReader(source, options, signal)
  try {
    yield* reader.texts()
  } finally {
    await reader.close()
  }
}

class LogReader {
  readonly #source: LogSource
  readonly #options: LogOptions
  readonly #signal: AbortSignal
  readonly #lines = new LineSplitter()
  readonly #text: LogText
  #file: LogFile | undefined
  #watcher: LogWatcher | undefined
  /** The number of lines that may still be sent. */
  #remaining: number
  #checkedAt = 0
  #hasStopped = false

  constructor(source: LogSource, options: LogOptions, signal: AbortSignal) {
    this.#source = source
    this.#options = options
    this.#signal = signal
    const { follow, tailLines } = options
    this.#remaining = tailLines !== undefined && !follow ? tailLines : Number.POSITIVE_INFINITY
    this.#text = new LogText(options, (line) =>
      source.log(`cannot parse a line of the log ${source.path}: ${JSON.stringify(line.toString('latin1', 0, 200))}`),
    )
  }

  async *texts(): AsyncGenerator<Buffer> {
    const path = await this.#resolvedPath()
    const first = await this.#openFirst(path)
    this.#file = first.file
    for (let isLast = first.isLast; ; ) {
      yield* this.#toEnd(this.#file)
      if (this.#isDone) return
      const next = isLast && !this.#options.follow ? undefined : await openNext(this.#file, path, this.#source.roots)
      if (next) {
        isLast = await this.#isNamed(next, path)
        yield* this.#switchTo(next)
      } else if (!this.#options.follow || this.#hasStopped) break
      else await this.#changed(path)
    }
    yield* this.#unfinishedLine()
  }

  async close(): Promise<void> {
    this.#watcher?.close()
    await this.#file?.close()
  }

  get #isDone(): boolean {
    return this.#signal.aborted || this.#remaining === 0
  }

  /** Resolves with the path without symbolic links, when the file exists. */
  async #resolvedPath(waitedMs = 0): Promise<string> {
    const { path } = this.#source
    return realpath(path).catch(async (error) => {
      // During a rotation there is no file for a moment.
      if (
        error.code === 'ENOENT' &&
        waitedMs < missingMs &&
        !this.#signal.aborted &&
        (await this.#source.isRunning())
      ) {
        await wait(settleMs, undefined, { signal: this.#signal }).catch(() => {})
        return this.#resolvedPath(waitedMs + settleMs)
      }
      throw new Error(`failed to try resolving symlinks in path ${JSON.stringify(path)}: ${goMessage(error, path)}`)
    })
  }

  /** Opens the file in which the requested lines begin, at their start. `isLast` if it is the current one. */
  async #openFirst(path: string): Promise<{ readonly file: LogFile; readonly isLast: boolean }> {
    const { tailLines } = this.#options
    const { roots } = this.#source
    let file = await openCurrent(path, roots)
    if (tailLines === undefined) return { file, isLast: true }
    let isLast = true
    for (let missing = tailLines; ; ) {
      missing -= await file.seekTail(missing)
      const older = missing > 0 ? await openPrevious(file, path, roots) : undefined
      if (!older) return { file, isLast }
      await file.close()
      file = older
      isLast = false
    }
  }

  /** Yields the text up to the current end of a file. */
  async *#toEnd(file: LogFile): AsyncGenerator<Buffer> {
    while (!this.#isDone) {
      const chunk = await file.read()
      if (!chunk) return
      yield* this.#textOf(this.#lines.split(chunk))
    }
  }

  *#textOf(lines: Iterable<Buffer>): Generator<Buffer> {
    const pieces: Buffer[] = []
    for (const line of lines) {
      if (this.#remaining === 0) break
      if (this.#text.add(line, pieces)) this.#remaining--
    }
    if (pieces.length > 0) yield Buffer.concat(pieces)
  }

  *#unfinishedLine(): Generator<Buffer> {
    const rest = this.#lines.takeRest()
    if (rest) yield* this.#textOf([rest])
  }

  /** Yields the rest of the old file, and goes on with the next one. */
  async *#switchTo(next: LogFile): AsyncGenerator<Buffer> {
    const old = this.#file!
    try {
      await wait(settleMs, undefined, { signal: this.#signal }).catch(() => {})
      yield* this.#toEnd(old)
      yield* this.#unfinishedLine()
    } finally {
      this.#file = next
      await old.close()
    }
  }

  async #isNamed(file: LogFile, path: string): Promise<boolean> {
    return path.endsWith(`/${await file.name()}`)
  }

  /** Resolves when the log may have grown. The end of the container counts as a change. */
  async #changed(path: string): Promise<void> {
    if (!this.#watcher) {
      // The log may have grown before the watcher existed: it is read once more first.
      this.#watcher = new LogWatcher(path, this.#source.log)
      return
    }
    const now = performance.now()
    if (now - this.#checkedAt >= pollMs) {
      this.#checkedAt = now
      this.#hasStopped = !(await this.#source.isRunning())
      if (this.#hasStopped) return
    }
    await this.#watcher.changed(pollMs, this.#signal)
  }
}

/** The message of a file system's error in Go's words. */
function goMessage(error: NodeJS.ErrnoException, path: string): string {
  return error.code === 'ENOENT' ? `lstat ${path}: no such file or directory` : messageOf(error)
}
