/**
 * The server under torture as seen by its clients: it may be down and restart elsewhere, and all observations of it are
 * stored.
 */
import type { Fault, History } from '../checker/history.ts'
import type { Observation } from '../observation.ts'
import { type ServerProcess, startServer, token } from '../server-process.ts'
import { Connection } from './connection.ts'

export interface Tallies {
  writes: number
  acknowledged: number
  /** Time from the start of a server to the first list of the main kind, if the server lived that long. */
  slowestFirstListMs: number
}

/** `early`: the client connects when the server begins to serve; `late`: after the first requests were answered. */
export type Arrival = 'early' | 'late'

export class Target {
  readonly directory: string
  readonly history: History
  readonly observations: Observation[] = []
  /** Faults found immediately, without the later check. */
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
        this.faults.push({ promise: 'the server keeps running', evidence: `process ${server.pid} ended by itself` })
    })
  }

  /** Lets late clients connect. */
  admit(): void {
    this.#isAdmitting = true
    this.#admitted.resolve()
  }

  /** Kills the server, whatever it is doing. */
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
    // Clients that still wait keep waiting.
    if (this.#isAdmitting) this.#admitted = Promise.withResolvers()
    this.#isAdmitting = false
    await how(server)
    for (const connection of this.#connections.values()) connection.close()
    this.#connections.clear()
  }

  /**
   * Returns a connection to the server once it is up; undefined if `signal` aborts first. An open connection is reused
   * by name.
   */
  async connection(name: string, signal?: AbortSignal, arrival: Arrival = 'early'): Promise<Connection | undefined> {
    const url = await this.#address(signal, arrival)
    if (url === undefined || signal?.aborted) return undefined
    let connection = this.#connections.get(name)
    if (!connection?.isOpen)
      this.#connections.set(name, (connection = new Connection(`${name} #${this.#generation}`, url, token)))
    return connection
  }

  /** Returns the server's URL, synchronously if it is up, so that no listeners accumulate on the signal. */
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

  /** Reports a response with an unexpected status. */
  unexpected(what: string, status: number, text: string): void {
    this.fault('requests are answered', `${what}: ${status} ${text.slice(0, 300)}`)
  }
}
