/** The output of a container: its log, and the clients that are attached to it. */
import { constants, mkdirSync, openSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import type { Writable } from 'node:stream'
import { endMark, keeperFiles } from '../keeper.ts'
import { LogFile } from './log-file.ts'
import { LogLines, type OutputStream, timestamp } from './log-lines.ts'
import { LogProgress } from './log-progress.ts'
import { OutputReader } from './output-reader.ts'
import { fifoSource, type OutputSource, type SourceEvents, terminalSource } from './output-source.ts'
import { Spool, type SpoolPosition } from './spool.ts'

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

/** One of the streams, with the lines that it completes. */
interface Stream {
  readonly name: OutputStream
  readonly spool: Spool
  readonly lines: LogLines
  readonly reader: OutputReader
}

export class ContainerOutput {
  readonly #folder: string
  readonly #spools: string
  readonly #terminal: number | undefined
  readonly #progress: LogProgress
  readonly #log: LogFile
  readonly #clients = new Set<AttachedClient>()
  readonly #streams: readonly Stream[]

  /** Goes on where the last runtime has stopped. */
  constructor({ folder, logPath, terminal }: ContainerOutputOptions) {
    this.#folder = folder
    this.#terminal = terminal
    // A folder of its own: the container is checked after each change in the other one.
    this.#spools = join(folder, 'output')
    mkdirSync(this.#spools, { recursive: true, mode: 0o700 })
    this.#progress = new LogProgress(this.#spools)
    this.#log = new LogFile(logPath, this.#progress.log)
    const names: readonly OutputStream[] = terminal === undefined ? ['stdout', 'stderr'] : ['stdout']
    this.#streams = names.map((name, i) => this.#open(name, this.#progress.spools[i]!))
  }

  /** Resolves when everything has been read. */
  async ended(): Promise<void> {
    await Promise.all(this.#streams.map(({ reader }) => reader.ended))
  }

  /** Writes the rest into the log and closes it. */
  finish(): void {
    for (const { spool, lines, reader } of this.#streams) {
      this.#log.append(lines.end(timestamp()))
      spool.markLogged(reader.held)
    }
    this.#save()
    this.close()
  }

  /** Removes its files after `finish`, when the end of the container is recorded. */
  discard(): void {
    rmSync(this.#spools, { recursive: true, force: true })
  }

  /** Stops reading: a later process continues. */
  close(): void {
    for (const { reader } of this.#streams) reader.close()
    this.#log.close()
    this.#progress.close()
  }

  reopenLog(): void {
    this.#log.reopen()
    this.#save()
  }

  /** Adds a client, until `signal` is aborted. */
  attach(client: AttachedClient, signal: AbortSignal): void {
    this.#clients.add(client)
    signal.addEventListener('abort', () => this.#clients.delete(client), { once: true })
  }

  #open(name: OutputStream, position: SpoolPosition): Stream {
    const spool = new Spool(this.#spools, name, position)
    const lines = new LogLines(name, this.#terminal !== undefined)
    const reader = new OutputReader({
      spool,
      open: (events) => this.#source(name, spool, events),
      endMark: this.#terminal === undefined ? endMark(this.#folder) : undefined,
      onData: (data, held) => this.#add(stream, data, held),
    })
    const stream: Stream = { name, spool, lines, reader }
    return stream
  }

  #source(name: OutputStream, spool: Spool, events: SourceEvents): OutputSource {
    if (this.#terminal !== undefined) return terminalSource(this.#terminal, spool, events)
    const path = join(this.#folder, name === 'stdout' ? keeperFiles.out : keeperFiles.err)
    // For writing, too, so that there is never an end before the mark.
    return fifoSource(path, openSync(path, constants.O_RDWR | constants.O_NONBLOCK), spool, events)
  }

  #add({ name, spool, lines }: Stream, data: Buffer, held: number): Promise<unknown> | undefined {
    this.#log.append(lines.add(data, timestamp()))
    spool.markLogged(lines.rest.length + held)
    this.#save()
    spool.rotate(() => this.#save())
    const waits = [...this.#clients].flatMap((client) => {
      const writable = client[name]
      if (!writable || writable.destroyed || writable.writableEnded || writable.write(data)) return []
      return [drained(writable)]
    })
    return waits.length > 0 ? Promise.all(waits) : undefined
  }

  #save(): void {
    this.#progress.save(
      this.#log.position,
      this.#streams.map(({ spool }) => spool.position),
    )
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
