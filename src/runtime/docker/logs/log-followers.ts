/** The followers of all containers that have a log. */
import { mkdirSync } from 'node:fs'
import { dirname } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import type { DockerEngine } from '../../../lib/docker-engine/index.ts'
import type { Log } from '../../../lib/log/log.ts'
import type { ContainerLabels } from '../pods/labels.ts'
import { LogFollower } from './log-follower.ts'

/** A container that has ended is reported when its log is complete, or after this time. In ms. */
const maxDrainMs = 10_000

export class LogFollowers {
  readonly #engine: DockerEngine
  readonly #log: Log
  readonly #followers = new Map<string, LogFollower>()

  constructor(engine: DockerEngine, log: Log) {
    this.#engine = engine
    this.#log = log
  }

  /** Begins to follow a container that was started. Does nothing for one without a log, or that is followed. */
  follow(id: string, { logPath, config }: Pick<ContainerLabels, 'logPath' | 'config'>): void {
    if (logPath === '' || this.#followers.has(id)) return
    mkdirSync(dirname(logPath), { recursive: true, mode: 0o755 })
    const options = { engine: this.#engine, id, logPath, isTerminal: config.tty, log: this.#log }
    this.#followers.set(id, new LogFollower(options))
  }

  reopen(id: string): void {
    this.#followers.get(id)?.reopenLog()
  }

  /** Resolves when the log of a container that has ended is complete. */
  async drained(id: string): Promise<void> {
    const follower = this.#followers.get(id)
    if (!follower) return
    const timer = new AbortController()
    await Promise.race([follower.ended, delay(maxDrainMs, undefined, { signal: timer.signal }).catch(() => {})])
    timer.abort()
  }

  /** Stops following a container that was removed. */
  async forget(id: string): Promise<void> {
    const follower = this.#followers.get(id)
    this.#followers.delete(id)
    await follower?.close()
  }

  /** Stops all. A later runtime continues. */
  async close(): Promise<void> {
    await Promise.all([...this.#followers.keys()].map((id) => this.forget(id)))
  }
}
