/** A folder with a container's log, as a runtime writes it. */
import { appendFileSync, existsSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { TestContext } from 'node:test'
import type { LogOptions } from '../../../node/server/log-options.ts'
import { readLog } from '../read-log.ts'

export const everything: LogOptions = {
  follow: false,
  previous: false,
  timestamps: false,
  sinceMs: undefined,
  tailLines: undefined,
  limitBytes: undefined,
  stream: 'All',
}

export const line = (text: string, stream = 'stdout', tag = 'F'): string =>
  `2026-01-02T03:04:05.123456789Z ${stream} ${tag} ${text}\n`

export class LogFolder {
  readonly root: string
  readonly folder: string
  readonly path: string
  readonly reports: string[] = []
  isRunning = true

  constructor(t: TestContext) {
    this.root = mkdtempSync(join(tmpdir(), 't8s-logs-'))
    this.folder = join(this.root, 'default_web_u/app')
    this.path = join(this.folder, '0.log')
    mkdirSync(this.folder, { recursive: true })
    t.after(() => rmSync(this.root, { recursive: true, force: true }))
  }

  append(text: string, name = '0.log'): void {
    appendFileSync(join(this.folder, name), text)
  }

  exists(name: string): boolean {
    return existsSync(join(this.folder, name))
  }

  /** Starts to read the log. */
  open(options: Partial<LogOptions> = {}, signal = new AbortController().signal): AsyncGenerator<Buffer> {
    const source = {
      path: this.path,
      roots: [this.root],
      isRunning: async () => this.isRunning,
      log: (text: string) => void this.reports.push(text),
    }
    return readLog(source, { ...everything, ...options }, signal)
  }

  async read(options: Partial<LogOptions> = {}): Promise<string> {
    return Buffer.concat(await allOf(this.open(options))).toString()
  }
}

export async function allOf(log: AsyncIterable<Buffer>): Promise<Buffer[]> {
  const pieces: Buffer[] = []
  for await (const piece of log) pieces.push(piece)
  return pieces
}

/** Collects a log that is followed. */
export class Follower {
  text = ''
  readonly ended: Promise<void>
  #changed = Promise.withResolvers<void>()

  constructor(log: AsyncIterable<Buffer>) {
    this.ended = this.#collect(log)
  }

  /** Resolves when the text so far is `expected`. */
  async waitFor(expected: string): Promise<void> {
    const deadline = Date.now() + 10_000
    while (this.text !== expected) {
      if (Date.now() > deadline) throw new Error(`the log is ${JSON.stringify(this.text)}`)
      const timer = setTimeout(() => this.#changed.resolve(), 1_000)
      await this.#changed.promise
      clearTimeout(timer)
      this.#changed = Promise.withResolvers()
    }
  }

  async #collect(log: AsyncIterable<Buffer>): Promise<void> {
    for await (const piece of log) {
      this.text += piece.toString()
      this.#changed.resolve()
    }
  }
}
