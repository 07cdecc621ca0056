/**
 * Forwards queries to other servers: in random order, to those that answer first. Equal queries that wait at the same
 * time are asked once. Bounded, so that an upstream that is slow does not fill the memory.
 */
import { messageOf } from '../../../lib/message-of.ts'
import { askServer, type ServerAddress, serverText } from './upstream-server.ts'

export interface ForwarderOptions {
  readonly servers: readonly ServerAddress[]
  /** From 0 to below 1. */
  readonly random: () => number
  readonly log: (line: string) => void
  /** Notes the outcome of one query to a server, and its time in seconds. */
  readonly asked: (server: string, isAnswered: boolean, seconds: number) => void
}

/** As CoreDNS: a query has 5 s for all servers, a server 2 s. */
const queryTimeoutMs = 5000
const serverTimeoutMs = 2000
const maxConcurrent = 1000
/** A server that failed so often without an answer is asked last, for the time in ms. */
const maxFailures = 2
const pauseMs = 5000

interface Health {
  failures: number
  failedAt: number
}

export class Forwarder {
  readonly #options: ForwarderOptions
  readonly #health = new Map<ServerAddress, Health>()
  readonly #waiting = new Map<string, Promise<Buffer | undefined>>()

  constructor(options: ForwarderOptions) {
    this.#options = options
  }

  /** False if there is no server to forward to. */
  get hasServers(): boolean {
    return this.#options.servers.length > 0
  }

  /**
   * Resolves with a response whose ID is not that of the query; undefined if no server answers. `key` is equal for
   * queries that get the same response.
   */
  ask(key: string, query: Buffer): Promise<Buffer | undefined> {
    const known = this.#waiting.get(key)
    if (known) return known
    if (this.#waiting.size >= maxConcurrent) return Promise.resolve(undefined)
    const answer = this.#askAll(query).finally(() => this.#waiting.delete(key))
    this.#waiting.set(key, answer)
    return answer
  }

  async #askAll(query: Buffer): Promise<Buffer | undefined> {
    const message = Buffer.from(query)
    message.writeUInt16BE(Math.floor(this.#options.random() * 0x10000), 0)
    const deadline = performance.now() + queryTimeoutMs
    for (const server of this.#inOrder()) {
      const left = deadline - performance.now()
      if (left <= 0) break
      const response = await this.#askOne(server, message, Math.min(left, serverTimeoutMs))
      if (response) return response
    }
    return undefined
  }

  async #askOne(server: ServerAddress, message: Buffer, timeoutMs: number): Promise<Buffer | undefined> {
    const { log, asked } = this.#options
    const startedAt = performance.now()
    const seconds = (): number => (performance.now() - startedAt) / 1000
    try {
      const response = await askServer(server, message, timeoutMs)
      asked(serverText(server), true, seconds())
      this.#health.delete(server)
      return response
    } catch (error) {
      asked(serverText(server), false, seconds())
      const health = this.#health.get(server) ?? { failures: 0, failedAt: 0 }
      this.#health.set(server, { failures: health.failures + 1, failedAt: performance.now() })
      if (health.failures + 1 === maxFailures)
        log(`dns: the server ${serverText(server)} does not answer (${messageOf(error)}): others are asked first`)
      return undefined
    }
  }

  /** Random, and servers that do not answer at the end. */
  #inOrder(): readonly ServerAddress[] {
    const { servers, random } = this.#options
    const rank = (server: ServerAddress): number => {
      const health = this.#health.get(server)
      const isDown = health && health.failures >= maxFailures && performance.now() - health.failedAt < pauseMs
      return (isDown ? 1 : 0) + random()
    }
    return servers
      .map((server) => ({ server, rank: rank(server) }))
      .sort((a, b) => a.rank - b.rank)
      .map(({ server }) => server)
  }
}
