/**
 * HTTP/1.1, for servers and proxies that speak no HTTP/2: a connection for each request that is under way, kept for the
 * next one.
 */
import { Agent, type IncomingHttpHeaders, type IncomingMessage, request as send } from 'node:http'
import type { Duplex } from 'node:stream'
import { refuseUpgrade } from '../../lib/refuse-upgrade.ts'
import { ConnectionLost, lossOf, RequestCanceled } from './connection-lost.ts'

export interface Http1Request {
  readonly method: string
  readonly path: string
  readonly headers: Readonly<Record<string, string | string[] | number>>
  readonly body?: Buffer
  readonly signal?: AbortSignal
  readonly timeoutMs?: number
  /** What it is called in errors. */
  readonly what: string
}

export interface Http1Answer {
  readonly status: number
  readonly headers: IncomingHttpHeaders
  readonly body: AsyncIterable<Buffer>
}

/** Connections that rest are kept for the next requests, so many of them. */
const mostResting = 16

export class Http1 {
  readonly #agent: Agent
  readonly #host: string

  /** `connect` makes a connection to the server; `host` is whom requests are for. */
  constructor(host: string, connect: () => Promise<Duplex>) {
    this.#host = host
    this.#agent = new Agent({ keepAlive: true, maxFreeSockets: mostResting })
    this.#agent.createConnection = (_options, connected) => {
      connect().then(
        (socket) => connected?.(null, socket),
        (error) => connected?.(error, undefined as never),
      )
      return undefined
    }
  }

  /** Resolves with the head of the answer. Rejects as `Connection.send`. */
  exchange({ method, path, headers, body, signal, timeoutMs, what }: Http1Request): Promise<Http1Answer> {
    const { promise, resolve, reject } = Promise.withResolvers<Http1Answer>()
    const asked = send({
      agent: this.#agent,
      method,
      path,
      headers: { ...headers, host: this.#host, ...(body && { 'content-length': body.length }) },
    })
    let answer: IncomingMessage | undefined
    const end = (error: Error): void => {
      answer?.destroy(error)
      asked.destroy(error)
    }
    const giveUp = (): void => end(new RequestCanceled(`${what} was given up`))
    const late =
      timeoutMs &&
      setTimeout(() => end(new ConnectionLost(`${what}: no answer within ${timeoutMs / 1000} s`, true)), timeoutMs)
    signal?.addEventListener('abort', giveUp, { once: true })
    refuseUpgrade(asked).on('response', (response) => {
      answer = response
      resolve({ status: response.statusCode ?? 0, headers: response.headers, body: response })
    })
    asked.on('error', (error) => {
      if (error instanceof RequestCanceled || error instanceof ConnectionLost) reject(error)
      else if (asked.socket) reject(new ConnectionLost(`${what}: ${lossOf(error)}`, true, { cause: error }))
      else
        reject(
          new ConnectionLost(`${what}: ${this.#host} cannot be reached: ${lossOf(error)}`, false, { cause: error }),
        )
    })
    asked.on('close', () => {
      clearTimeout(late || undefined)
      signal?.removeEventListener('abort', giveUp)
    })
    asked.end(body)
    return promise
  }

  /** Ends its connections. */
  close(): void {
    this.#agent.destroy()
  }
}
