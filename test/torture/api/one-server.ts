/** One server under torture: it may be down and restart elsewhere. */
import type { History } from './checker/history.ts'
import { Connection } from './clients/connection.ts'
import { type Arrival, Target } from './clients/target.ts'
import { type ServerProcess, startServer, token } from './server-process.ts'

export class OneServer extends Target {
  readonly directory: string
  #server: ServerProcess | undefined
  #url: string | undefined
  #up = Promise.withResolvers<string>()
  #admitted = Promise.withResolvers<void>()
  #isAdmitting = false
  #connections = new Map<string, Connection>()
  #generation = 0

  constructor(directory: string, history: History) {
    super(history)
    this.directory = directory
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
}
