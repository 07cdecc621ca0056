/** The output of a container: its log, and the clients that are attached to it. */
import { constants, openSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Writable } from 'node:stream'
import { endMark, keeperFiles } from '../keeper.ts'
import { LogFile } from './log-file.ts'
import { LogLines, type OutputStream, timestamp } from './log-lines.ts'
import { OutputReader } from './output-reader.ts'

/** A client, whose back-pressure slows down the container. */
export interface AttachedClient {
  readonly stdout: Writable | undefined
  readonly stderr: Writable | undefined
}

export interface ContainerOutputOptions {
  readonly folder: string
  readonly logPath: string
  /** The master of the container's terminal; undefined without one. */
  readonly terminal: number | undefined
}

export class ContainerOutput {
  readonly #folder: string
  readonly #log: LogFile
  readonly #clients = new Set<AttachedClient>()
  readonly #readers: readonly OutputReader[]
  readonly #lines: readonly LogLines[]

  constructor({ folder, logPath, terminal }: ContainerOutputOptions) {
    this.#folder = folder
    this.#log = new LogFile(logPath)
    const streams: readonly OutputStream[] = terminal === undefined ? ['stdout', 'stderr'] : ['stdout']
    this.#lines = streams.map((stream) => new LogLines(stream, terminal !== undefined, this.#restOf(stream)))
    this.#readers = streams.map((stream, i) => {
      const name = stream === 'stdout' ? keeperFiles.out : keeperFiles.err
      return new OutputReader({
        // For writing, too, so that there is never an end before the mark.
        file: terminal ?? openSync(join(folder, name), constants.O_RDWR | constants.O_NONBLOCK),
        isTerminal: terminal !== undefined,
        endMark: terminal === undefined ? endMark(folder) : undefined,
        onData: (data) => this.#add(stream, this.#lines[i]!, data),
      })
    })
  }

  /** Resolves when everything has been read. */
  async ended(): Promise<void> {
    await Promise.all(this.#readers.map(({ ended }) => ended))
  }

  /** Writes the rest into the log and closes it. */
  finish(): void {
    for (const lines of this.#lines) this.#log.append(lines.end(timestamp()))
    this.close()
    for (const stream of ['stdout', 'stderr'] as const) rmSync(this.#restFile(stream), { force: true })
  }

  /** Stops reading: a later process goes on. */
  close(): void {
    for (const reader of this.#readers) reader.close()
    this.#log.close()
  }

  reopenLog(): void {
    this.#log.reopen()
  }

  /** Adds a client, until `signal` is aborted. */
  attach(client: AttachedClient, signal: AbortSignal): void {
    this.#clients.add(client)
    signal.addEventListener('abort', () => this.#clients.delete(client), { once: true })
  }

  #add(stream: OutputStream, lines: LogLines, data: Buffer): Promise<unknown> | undefined {
    const before = lines.rest.length
    this.#log.append(lines.add(data, timestamp()))
    if (lines.rest.length > 0 || before > 0) this.#saveRest(stream, lines.rest)
    const waits = [...this.#clients].flatMap((client) => {
      const writable = client[stream]
      if (!writable || writable.destroyed || writable.writableEnded || writable.write(data)) return []
      return [drained(writable)]
    })
    return waits.length > 0 ? Promise.all(waits) : undefined
  }

  /** The incomplete line survives the runtime in a file. */
  #saveRest(stream: OutputStream, rest: Buffer): void {
    writeFileSync(this.#restFile(stream), rest, { mode: 0o600 })
  }

  #restOf(stream: OutputStream): Buffer {
    try {
      return readFileSync(this.#restFile(stream))
    } catch {
      return Buffer.alloc(0)
    }
  }

  #restFile(stream: OutputStream): string {
    return join(this.#folder, `rest.${stream}`)
  }
}

const drained = (writable: Writable): Promise<void> =>
  new Promise((resolve) => {
    const done = (): void => {
      writable.off('drain', done)
      writable.off('close', done)
      resolve()
    }
    writable.on('drain', done)
    writable.on('close', done)
  })
