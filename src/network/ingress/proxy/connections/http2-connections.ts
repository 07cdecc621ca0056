/** Connections to endpoints that speak HTTP/2 without TLS: one per endpoint, which carries all requests. */
import {
  type ClientHttp2Session,
  type ClientHttp2Stream,
  connect,
  constants,
  type IncomingHttpHeaders,
} from 'node:http2'
import type { EndpointAddress } from '../../picture/backends.ts'
import { type BackendRequest, type BackendResponse, NotConnected } from './backend-response.ts'

const windowBytes = 1024 * 1024

export class Http2Connections {
  readonly #connectMs: number
  readonly #idleMs: number
  readonly #sessions = new Map<string, Promise<ClientHttp2Session>>()

  /** `connectMs` limits the time to open a connection, `idleMs` the time that an unused one stays open. */
  constructor(connectMs: number, idleMs: number) {
    this.#connectMs = connectMs
    this.#idleMs = idleMs
  }

  /** Sends a request, as `Http1Connections.send`. */
  async send(
    endpoint: EndpointAddress,
    { method, path, authority, headers, body, signal }: BackendRequest,
  ): Promise<BackendResponse> {
    const session = await this.#session(endpoint)
    const stream = openStream(session, {
      headers: { ...headers, ':method': method, ':path': path, ':scheme': 'http', ':authority': authority },
      endsNow: body === undefined,
    })
    const cancel = (): void => stream.close(constants.NGHTTP2_CANCEL)
    if (signal.aborted) cancel()
    signal.addEventListener('abort', cancel, { once: true })
    stream.once('close', () => signal.removeEventListener('abort', cancel))
    body?.pipe(stream)
    return responseOf(stream)
  }

  /** Uses the connection to an endpoint for no more requests. */
  retire({ address, port }: EndpointAddress): void {
    const key = `${address} ${port}`
    const session = this.#sessions.get(key)
    this.#sessions.delete(key)
    session?.then(
      (one) => one.close(),
      () => {},
    )
  }

  close(): void {
    for (const session of this.#sessions.values())
      session.then(
        (one) => one.destroy(),
        () => {},
      )
    this.#sessions.clear()
  }

  async #session(endpoint: EndpointAddress): Promise<ClientHttp2Session> {
    const key = `${endpoint.address} ${endpoint.port}`
    const known = this.#sessions.get(key)
    const session = await known
    if (session && !session.closed && !session.destroyed) return session
    // Another request may have opened one in the meantime.
    if (this.#sessions.get(key) !== known) return this.#session(endpoint)
    const opened = this.#open(endpoint, () => {
      if (this.#sessions.get(key) === opened) this.#sessions.delete(key)
    })
    this.#sessions.set(key, opened)
    return opened
  }

  #open({ address, port }: EndpointAddress, forget: () => void): Promise<ClientHttp2Session> {
    const { promise, resolve, reject } = Promise.withResolvers<ClientHttp2Session>()
    const host = address.includes(':') ? `[${address}]` : address
    const session = connect(`http://${host}:${port}`, {
      settings: { enablePush: false, initialWindowSize: windowBytes },
    })
    const timer = setTimeout(
      () => session.destroy(new Error(`no connection within ${this.#connectMs / 1000} s`)),
      this.#connectMs,
    )
    session.once('connect', () => {
      clearTimeout(timer)
      session.setTimeout(this.#idleMs, () => session.close())
      session.setLocalWindowSize(windowBytes)
      resolve(session)
    })
    session.on('error', (error) => reject(new NotConnected(error)))
    session.once('close', () => {
      clearTimeout(timer)
      forget()
      reject(new NotConnected(new Error('the connection was closed')))
    })
    session.once('goaway', forget)
    return promise
  }
}

interface OpenedStream {
  readonly headers: Parameters<ClientHttp2Session['request']>[0]
  readonly endsNow: boolean
}

function openStream(session: ClientHttp2Session, { headers, endsNow }: OpenedStream): ClientHttp2Stream {
  try {
    return session.request(headers, { endStream: endsNow })
  } catch (error) {
    throw new NotConnected(error)
  }
}

function responseOf(stream: ClientHttp2Stream): Promise<BackendResponse> {
  const { promise, resolve, reject } = Promise.withResolvers<BackendResponse>()
  let trailers: IncomingHttpHeaders = {}
  stream.once('trailers', (received: IncomingHttpHeaders) => {
    trailers = received
  })
  stream.once('response', (headers, flags) =>
    resolve({
      status: Number(headers[':status'] ?? 0),
      headers,
      endsWithHead: (flags & constants.NGHTTP2_FLAG_END_STREAM) !== 0,
      body: stream,
      trailers: () => trailers,
    }),
  )
  // A stream that the endpoint has refused was not processed (RFC 9113, 8.7).
  stream.on('error', (error) =>
    reject(stream.rstCode === constants.NGHTTP2_REFUSED_STREAM ? new NotConnected(error) : error),
  )
  stream.once('close', () => reject(new Error('the backend has closed the stream without a response')))
  return promise
}
