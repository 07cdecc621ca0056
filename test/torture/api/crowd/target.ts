/**
 * The server under torture as its clients see it: it may be down, come back elsewhere, and everything seen of it is
 * kept.
 */
import type { Fault, History } from '../judge/history.ts'
import type { Observation } from '../observation.ts'
import { type ServerProcess, startServer, token } from '../server-process.ts'
import { Connection } from './connection.ts'

export interface Tallies {
  writes: number
  acknowledged: number
  /** From the start of a server to the first list of its crowd's kind, where it lived that long. */
  slowestFirstListMs: number
}

/** Whether a client is there when the server begins to serve, or comes when the first have been answered. */
export type Arrival = 'early' | 'late'

export class Target {
  readonly directory: string
  readonly history: History
  readonly observations: Observation[] = []
  /** What went wrong that no later judgement is needed for. */
  readonly faults: Fault[] = []
  readonly tallies: Tallies = { writes: 0, acknowledged: 0, slowestFirstListMs: 0 }
  #server: ServerProcess | undefined
  #url: string | undefined
  #up = Promise.withResolvers<string>()
  #admitted = Promise.withResolvers<void>()
  #isAdmitting = false
  #connections = new Map<string, Connection>()
  #generation = 0

  constructor(directory: string, history: History) {
    this.directory = directory
    this.history = history
  }

  async start(flags: readonly string[]): Promise<void> {
    const server = await startServer(this.directory, flags)
    this.#server = server
    this.#generation++
    this.#url = server.url
    this.#up.resolve(server.url)
    void server.exited.then(() => {
      if (this.#server === server)
        this.faults.push({ promise: 'the server goes on', evidence: `process ${server.pid} ended by itself` })
    })
  }

  /** Lets late clients in. */
  admit(): void {
    this.#isAdmitting = true
    this.#admitted.resolve()
  }

  /** Kills the server in the midst of whatever it does. */
  async kill(): Promise<void> {
    await this.#end((server) => server.kill())
  }

  stop(): Promise<void> {
    return this.#end((server) => server.stop())
  }

  async #end(how: (server: ServerProcess) => Promise<void>): Promise<void> {
    const server = this.#server
    if (!server) return
    this.#server = undefined
    this.#url = undefined
    this.#up = Promise.withResolvers()
    // Who still waits to be let in goes on waiting.
    if (this.#isAdmitting) this.#admitted = Promise.withResolvers()
    this.#isAdmitting = false
    await how(server)
    for (const connection of this.#connections.values()) connection.close()
    this.#connections.clear()
  }

  /**
   * A connection to the server, as soon as there is one; undefined if `signal` comes first. The same name gives the
   * same connection while it is open.
   */
  async connection(name: string, signal?: AbortSignal, arrival: Arrival = 'early'): Promise<Connection | undefined> {
    const url = await this.#address(signal, arrival)
    if (url === undefined || signal?.aborted) return undefined
    let connection = this.#connections.get(name)
    if (!connection?.isOpen)
      this.#connections.set(name, (connection = new Connection(`${name} #${this.#generation}`, url, token)))
    return connection
  }

  /** The server's URL: at once if it is up, so that no listeners pile up on the signal. */
  #address(signal: AbortSignal | undefined, arrival: Arrival): string | Promise<string | undefined> {
    if (this.#url && (arrival === 'early' || this.#isAdmitting)) return this.#url
    const may = arrival === 'late' ? this.#admitted.promise.then(() => this.#up.promise) : this.#up.promise
    if (!signal) return may
    return new Promise((resolve) => {
      const abort = (): void => resolve(undefined)
      signal.addEventListener('abort', abort, { once: true })
      void may.then((url) => {
        signal.removeEventListener('abort', abort)
        resolve(url)
      })
    })
  }

  fault(promise: string, evidence: string): void {
    this.faults.push({ promise, evidence })
  }

  /** A fault of the answer itself: an unforeseen status. */
  unforeseen(what: string, status: number, text: string): void {
    this.fault('requests are answered', `${what}: ${status} ${text.slice(0, 300)}`)
  }
}
