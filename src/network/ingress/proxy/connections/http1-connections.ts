/** Connections to endpoints that speak HTTP/1.1. They are used again, until their endpoint is retired. */
import { Agent, type ClientRequest, type IncomingMessage, request as sendRequest } from 'node:http'
import type { Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import type { EndpointAddress } from '../../picture/backends.ts'
import { type BackendRequest, type BackendResponse, NotConnected } from './backend-response.ts'

/** Methods that may be repeated (RFC 9110, 9.2.2). */
const idempotent: ReadonlySet<string> = new Set(['GET', 'HEAD', 'OPTIONS', 'TRACE', 'PUT', 'DELETE'])

/** Idle connections per endpoint. */
const maxIdle = 64

/** Keeps no connection to a retired endpoint after its request. */
class EndpointAgent extends Agent {
  readonly #retired = new Set<string>()
  readonly #names = new WeakMap<Duplex, string>()

  constructor(idleMs: number) {
    super({ keepAlive: true, maxFreeSockets: maxIdle, timeout: idleMs, scheduling: 'lifo' })
  }

  override keepSocketAlive(socket: Duplex): boolean {
    const keeps = super.keepSocketAlive(socket) as unknown as boolean
    return keeps && !this.#retired.has(this.#names.get(socket) ?? '')
  }

  /** Notes the endpoint of a connection, which is in use again. */
  use(socket: Socket, { address, port }: EndpointAddress): void {
    this.#names.set(socket, `${address} ${port}`)
  }

  revive({ address, port }: EndpointAddress): void {
    if (this.#retired.size > 0) this.#retired.delete(`${address} ${port}`)
  }

  retire({ address, port }: EndpointAddress): void {
    const name = this.getName({ host: address, port })
    // Without requests in progress there is nothing to remember.
    if (this.sockets[name]?.length) this.#retired.add(`${address} ${port}`)
    for (const socket of this.freeSockets[name] ?? []) socket.destroy()
  }
}

export class Http1Connections {
  readonly #agent: EndpointAgent
  readonly #connectMs: number

  /** `connectMs` limits the time to open a connection, `idleMs` the time that an unused one stays open. */
  constructor(connectMs: number, idleMs: number) {
    this.#connectMs = connectMs
    this.#agent = new EndpointAgent(idleMs)
  }

  /**
   * Sends a request. Rejects with NotConnected if there was no connection, and with the error of the connection if it
   * failed before the response.
   */
  async send(endpoint: EndpointAddress, request: BackendRequest): Promise<BackendResponse> {
    this.#agent.revive(endpoint)
    for (;;) {
      const sent = this.#start(endpoint, request)
      try {
        return await sent.response
      } catch (error) {
        // The endpoint has closed an idle connection in the same moment (RFC 9112, 9.3.1).
        if (!sent.request.reusedSocket || !isRepeatable(request)) throw error
      }
    }
  }

  /** Closes idle connections to an endpoint, and others after their request. */
  retire(endpoint: EndpointAddress): void {
    this.#agent.retire(endpoint)
  }

  close(): void {
    this.#agent.destroy()
  }

  #start(endpoint: EndpointAddress, { method, path, authority, headers, body, signal }: BackendRequest) {
    const sent = sendRequest({
      host: endpoint.address,
      port: endpoint.port,
      method,
      path,
      agent: this.#agent,
      setHost: false,
      headers: {
        host: authority,
        ...headers,
        // Node adds it only to some methods; without it a body would be taken for the next request.
        ...(body && headers['content-length'] === undefined && { 'transfer-encoding': 'chunked' }),
      },
    })
    sent.once('socket', (socket) => this.#agent.use(socket, endpoint))
    const cancel = (): void => void sent.destroy(new Error('the request was canceled'))
    if (signal.aborted) cancel()
    signal.addEventListener('abort', cancel, { once: true })
    sent.once('close', () => signal.removeEventListener('abort', cancel))
    const connected = whenConnected(sent, this.#connectMs)
    connected.then(
      () => (body ? body.pipe(sent) : sent.end()),
      () => {},
    )
    const { promise, resolve, reject } = Promise.withResolvers<BackendResponse>()
    sent.once('response', (message) => resolve(responseOf(message)))
    sent.on('error', (error) =>
      connected.then(
        () => reject(error),
        () => reject(new NotConnected(error)),
      ),
    )
    return { request: sent, response: promise }
  }
}

const isRepeatable = ({ method, body, signal }: BackendRequest): boolean =>
  body === undefined && !signal.aborted && idempotent.has(method)

const responseOf = (message: IncomingMessage): BackendResponse => ({
  status: message.statusCode ?? 0,
  headers: message.headers,
  body: message,
  trailers: () => message.trailers,
})

/** Resolves when the request has a connection. Rejects if it gets none within `connectMs`. */
export function whenConnected(sent: ClientRequest, connectMs: number): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>()
  const timer = setTimeout(() => sent.destroy(new Error(`no connection within ${connectMs / 1000} s`)), connectMs)
  const finish = (end: () => void): void => {
    clearTimeout(timer)
    end()
  }
  sent.once('socket', (socket) => {
    if (!socket.connecting) finish(resolve)
    else socket.once('connect', () => finish(resolve))
  })
  sent.once('error', (error) => finish(() => reject(error)))
  return promise
}
