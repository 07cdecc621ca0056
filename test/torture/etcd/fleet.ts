/** Several API servers on one etcd, as clients see them: each has a server, and another one while that is down. */
import { setTimeout as delay } from 'node:timers/promises'
import type { History } from '../api/checker/history.ts'
import { Connection } from '../api/clients/connection.ts'
import { Target } from '../api/clients/target.ts'
import { ProgramProcess } from '../program-process.ts'

/** One of the API servers. */
export interface Server {
  readonly url: string
  readonly program: ProgramProcess
  isUp: boolean
  /** How often it was started; part of the names of connections. */
  generation: number
}

export interface FleetOptions {
  readonly history: History
  readonly count: number
  /** The words of `t8s` that start a server which listens on this port. */
  readonly words: (port: number) => readonly string[]
  readonly token: string
  /** The log of the server on this port. */
  readonly log: (port: number) => string
}

const firstPort = 6443
const waitMs = 20
/** Servers and etcd give up after this time, in ms. */
const longestRequestMs = 15_000

export class Fleet extends Target {
  readonly servers: readonly Server[]
  /** Failed responses while something was disturbed, which are allowed. */
  excused = 0
  readonly #token: string
  readonly #connections = new Map<string, Connection>()
  /** Until then, requests may fail: those that began during the disturbance end later. */
  #excusedUntil = 0

  constructor({ history, count, words, token, log }: FleetOptions) {
    super(history)
    this.#token = token
    this.servers = Array.from({ length: count }, (_, i) => {
      const port = firstPort + i
      const url = `https://127.0.0.1:${port}`
      const program = new ProgramProcess({
        words: words(port),
        ready: 'serving on',
        log: log(port),
        onSurprise: (how) => this.fault('the server keeps running', `the server at ${url} ended by itself: ${how}`),
      })
      return { url, program, isUp: false, generation: 0 }
    })
  }

  async start(server: Server): Promise<void> {
    await server.program.start()
    server.generation++
    server.isUp = true
  }

  kill(server: Server): Promise<void> {
    return this.#end(server, 'SIGKILL')
  }

  async stop(): Promise<void> {
    await Promise.all(this.servers.map((server) => this.#end(server, 'SIGTERM')))
  }

  async #end(server: Server, signal: NodeJS.Signals): Promise<void> {
    server.isUp = false
    await server.program.end(signal)
    for (const [name, connection] of this.#connections) {
      if (!name.endsWith(server.url)) continue
      connection.close()
      this.#connections.delete(name)
    }
  }

  /** Lets requests fail that are made while `work` runs. */
  async disturbed(work: () => Promise<void>): Promise<void> {
    this.#excusedUntil = Number.POSITIVE_INFINITY
    try {
      await work()
    } finally {
      this.#excusedUntil = performance.now() + longestRequestMs
    }
  }

  override async connection(name: string, signal?: AbortSignal): Promise<Connection | undefined> {
    let server = this.#serverOf(name)
    while (!server) {
      if (signal?.aborted) return undefined
      await delay(waitMs)
      server = this.#serverOf(name)
    }
    return signal?.aborted ? undefined : this.connectionTo(server, name)
  }

  /** Returns the connection of this name to one server, which must be up. */
  connectionTo({ url, generation }: Server, name: string): Connection {
    const key = `${name} ${url}`
    let connection = this.#connections.get(key)
    if (!connection?.isOpen)
      this.#connections.set(key, (connection = new Connection(`${key} #${generation}`, url, this.#token)))
    return connection
  }

  override unexpected(what: string, status: number, text: string): void {
    if (performance.now() < this.#excusedUntil) this.excused++
    else super.unexpected(what, status, text)
  }

  /** The server of a client, or the next one that is up. */
  #serverOf(name: string): Server | undefined {
    const { servers } = this
    const first = Array.from(name).reduce((sum, letter) => sum + letter.charCodeAt(0), 0)
    return servers.map((_, i) => servers[(first + i) % servers.length]!).find(({ isUp }) => isUp)
  }
}
