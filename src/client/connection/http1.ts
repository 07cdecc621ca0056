/** HTTP/1.1 for servers and proxies without HTTP/2: a connection for each active request, kept alive for later ones. */
import { Agent, type IncomingHttpHeaders, type IncomingMessage, request as send } from 'node:http'
import type { Duplex } from 'node:stream'
import { refuseUpgrade } from '../../lib/refuse-upgrade.ts'
import { ConnectionLost, connectionErrorReason, RequestCanceled } from './connection-lost.ts'

export interface Http1Request {
  readonly method: string
  readonly path: string
  readonly headers: Readonly<Record<string, string | string[] | number>>
  readonly body?: Buffer
  readonly signal?: AbortSignal
  readonly timeoutMs?: number
  /** The name of the request in errors. */
  readonly label: string
}

export interface Http1Response {
  readonly status: number
  readonly headers: IncomingHttpHeaders
  readonly body: AsyncIterable<Buffer>
}

/** Idle connections to keep for later requests. */
const maxIdle = 16

export class Http1 {
  readonly #agent: Agent
  readonly #host: string

  /** `connect` opens a connection to the server; `host` is the `Host` header. */
  constructor(host: string, connect: () => Promise<Duplex>) {
    this.#host = host
    this.#agent = new Agent({ keepAlive: true, maxFreeSockets: maxIdle })
    this.#agent.createConnection = (_options, connected) => {
      connect().then(
        (socket) => connected?.(null, socket),
        (error) => connected?.(error, undefined as never),
      )
      return undefined
    }
  }

  /** Sends a request; resolves when the response begins. Rejects as `Connection.send`. */
  exchange({ method, path, headers, body, signal, timeoutMs, label }: Http1Request): Promise<Http1Response> {
    const { promise, resolve, reject } = Promise.withResolvers<Http1Response>()
    const clientRequest = send({
      agent: this.#agent,
      method,
      path,
      headers: { ...headers, host: this.#host, ...(body && { 'content-length': body.length }) },
    })
    let incoming: IncomingMessage | undefined
    const abort = (error: Error): void => {
      incoming?.destroy(error)
      clientRequest.destroy(error)
    }
    const cancel = (): void => abort(new RequestCanceled(`${label} was canceled`))
    const timer =
      timeoutMs &&
      setTimeout(() => abort(new ConnectionLost(`${label}: no response within ${timeoutMs / 1000} s`, true)), timeoutMs)
    signal?.addEventListener('abort', cancel, { once: true })
    refuseUpgrade(clientRequest).on('response', (response) => {
      incoming = response
      resolve({ status: response.statusCode ?? 0, headers: response.headers, body: response })
    })
    clientRequest.on('error', (error) => {
      if (error instanceof RequestCanceled || error instanceof ConnectionLost) reject(error)
      else if (clientRequest.socket)
        reject(new ConnectionLost(`${label}: ${connectionErrorReason(error)}`, true, { cause: error }))
      else
        reject(
          new ConnectionLost(`${label}: ${this.#host} is unreachable: ${connectionErrorReason(error)}`, false, {
            cause: error,
          }),
        )
    })
    clientRequest.on('close', () => {
      clearTimeout(timer || undefined)
      signal?.removeEventListener('abort', cancel)
    })
    clientRequest.end(body)
    return promise
  }

  /** Closes all connections. */
  close(): void {
    this.#agent.destroy()
  }
}
