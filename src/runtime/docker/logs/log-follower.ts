/** Writes the log of a container in CRI's format while the engine has output of it. */
import { setTimeout as delay } from 'node:timers/promises'
import { type DockerEngine, isMissing } from '../../../lib/docker-engine/index.ts'
import type { Log } from '../../../lib/log/log.ts'
import { messageOf } from '../../../lib/message-of.ts'
import { LogFile } from '../../containers/logs/log-file.ts'
import type { ContainerInspection } from '../engine-types.ts'
import { LogCursor } from './log-cursor.ts'
import { criLine, logSplitter } from './log-messages.ts'
import { readWrittenLog } from './written-log.ts'

export interface LogFollowerOptions {
  readonly engine: DockerEngine
  readonly id: string
  readonly logPath: string
  readonly isTerminal: boolean
  readonly log: Log
}

/** The engine restarts, or cannot be reached. In ms. */
const retryMs = 1_000

export class LogFollower {
  /** Resolves when the container has ended and everything is written, or after `close`. */
  readonly ended: Promise<void>
  readonly #options: LogFollowerOptions
  readonly #file: LogFile
  readonly #cursor: LogCursor
  readonly #stopped = new AbortController()
  #isOver = false

  /** Goes on where an earlier runtime has stopped. */
  constructor(options: LogFollowerOptions) {
    this.#options = options
    const written = readWrittenLog(options.logPath)
    this.#cursor = new LogCursor(written.marks)
    this.#file = new LogFile(options.logPath, written.position)
    this.ended = this.#run()
  }

  reopenLog(): void {
    if (!this.#isOver) this.#file.reopen()
  }

  /** Stops; a later runtime continues. */
  async close(): Promise<void> {
    this.#stopped.abort()
    await this.ended
  }

  async #run(): Promise<void> {
    const { id, log } = this.#options
    const { signal } = this.#stopped
    try {
      while (!signal.aborted) {
        try {
          const isRunning = await this.#isRunning()
          await this.#copy(isRunning)
          if (!isRunning) return
        } catch (error) {
          if (signal.aborted || isMissing(error)) return
          log(`cannot read the log of container ${id}, and will retry: ${messageOf(error)}`, 'error')
          await delay(retryMs, undefined, { signal }).catch(() => {})
        }
      }
    } finally {
      this.#isOver = true
      this.#file.close()
    }
  }

  async #isRunning(): Promise<boolean> {
    const { engine, id } = this.#options
    const { State } = await engine.json<ContainerInspection>({ path: `/containers/${id}/json` })
    return State.Running
  }

  /** Writes what the log has, and for a container that runs also what comes, until the stream ends. */
  async #copy(isFollowing: boolean): Promise<void> {
    const { engine, id, isTerminal } = this.#options
    this.#cursor.rewind()
    const stream = await engine.stream({
      path: `/containers/${id}/logs`,
      query: { follow: isFollowing, stdout: true, stderr: true, timestamps: true, since: this.#cursor.since },
      signal: this.#stopped.signal,
    })
    const splitter = logSplitter(isTerminal)
    const write = (messages: ReturnType<typeof splitter.add>): void =>
      this.#file.append(Buffer.concat(messages.filter((one) => this.#cursor.accept(one)).map(criLine)))
    for await (const chunk of stream as AsyncIterable<Buffer>) write(splitter.add(chunk))
    write(splitter.end())
  }
}
