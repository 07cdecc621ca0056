/**
 * HTTP/2 to an API server: all requests and watches share a connection, which is opened when needed and reopened after
 * a loss. Servers without HTTP/2 or without TLS, such as `kubectl proxy`, get HTTP/1.1 (`http1.ts`).
 */
import { type ClientHttp2Session, type ClientHttp2Stream, connect, constants } from 'node:http2'
import { connect as connectPlainly, isIP } from 'node:net'
import type { Duplex } from 'node:stream'
import { TLSSocket } from 'node:tls'
import { installPlainBind } from '../../lib/process/plain-bind.ts'
import { ResponseBody } from './bodies/response-body.ts'
import { upload } from './bodies/upload.ts'
import { ConnectionLost, connectionErrorReason, RequestCanceled } from './connection-lost.ts'
import { type Credentials, type Impersonation, impersonationHeaders } from './credentials/credentials.ts'
import { Http1 } from './http1.ts'
import { type RateLimit, TokenBucket } from './pacing/token-bucket.ts'
import { measureRequest, type RequestMetrics } from './request-metrics.ts'
import { secureSocket } from './sockets/secure-socket.ts'
import { tunnel } from './sockets/tunnel.ts'
import { whenConnected } from './sockets/when-connected.ts'

installPlainBind()

/** The address of a server, and the credentials for it. */
export interface ServerAccess {
  readonly url: string
  /** Certificate authorities for the server's certificate, PEM. Default: Node's. */
  readonly ca?: string
  /** A client certificate, PEM. */
  readonly cert?: string
  readonly key?: string
  /** Tokens, passwords, or certificates that change. */
  readonly credentials?: Credentials
  readonly impersonate?: Impersonation
  /** The name in the server's certificate, if it is not the host of the URL. */
  readonly serverName?: string
  /** Skips the verification of the server's certificate. */
  readonly insecure?: boolean
  /** A proxy: http, https or socks5. */
  readonly proxyUrl?: string
  /** Delays requests over the limit. Default: no limit. */
  readonly rateLimit?: RateLimit
  /** Opens the connection in place of TCP and TLS; it carries HTTP/2. @internal */
  readonly dial?: () => Duplex
  /** Counts requests: `restClientMetrics(registry)`. */
  readonly metrics?: RequestMetrics
  /** Default: `t8s`. */
  readonly userAgent?: string
}

export interface ClientRequest {
  readonly method: string
  /** With the query. */
  readonly path: string
  /** A bearer token, in place of the connection's credentials. */
  readonly token?: string
  /** For a token that changes, in place of `token`. */
  readonly credentials?: Credentials
  /** In place of the connection's rate limit. */
  readonly rateLimiter?: TokenBucket
  readonly impersonate?: Impersonation
  /** Default: `application/json`. */
  readonly accept?: string
  readonly contentType?: string
  readonly body?: Buffer
  /** Cancels the request. */
  readonly signal?: AbortSignal
  /** Time in ms for the complete response. Default: unlimited. */
  readonly timeoutMs?: number
}

/** Headers by their names in lower case. */
export interface ResponseHeaders {
  readonly [name: string]: string | string[] | undefined
  readonly 'content-type'?: string
  readonly date?: string
  readonly warning?: string
  readonly 'retry-after'?: string
}

export interface ClientResponse {
  readonly status: number
  readonly headers: ResponseHeaders
  /** Must be read to its end, or its iteration must be stopped. */
  readonly body: AsyncIterable<Buffer>
}

/** Time for opening a connection, in ms. */
const connectTimeoutMs = 10_000
/** Interval of pings, and the time for a reply, in ms: detects a frozen server within 45 s, as client-go does. */
const [pingMs, pingTimeoutMs] = [30_000, 15_000]
/** HTTP/2 flow-control windows in bytes: of one response, and of the connection. */
const responseWindow = 1024 * 1024
const connectionWindow = 16 * 1024 * 1024
/** In MB. High, since Node takes many canceled watches at the same time for an attack by the server. */
const maxSessionMemory = 256
/** After rejected uploads have left so many bytes in Node's buffers, new requests get a new connection. */
const maxUnsentBytes = (maxSessionMemory / 4) * 1024 * 1024
/** Streams of a connection that are reserved for requests when watches fill the rest. */
const spareStreams = 8

/** An HTTP/2 connection with its state. */
interface Session {
  readonly http2: ClientHttp2Session
  /** Active requests. */
  streams: number
  /** Bytes that rejected uploads have left in Node's buffers. */
  unsent: number
  /** True after the server has accepted the connection. */
  connected: boolean
}

/**
 * A connection to an API server, which several `RestClient`s can share.
 * @example const client = new RestClient(new Connection({ url, ca }), { token })
 */
export class Connection {
  readonly #access: ServerAccess
  readonly #url: URL
  readonly #host: string
  readonly #prefix: string
  readonly #headers: Readonly<Record<string, string | string[]>>
  readonly #bucket: TokenBucket | undefined
  readonly #sessions = new Set<Session>()
  readonly #closing = new AbortController()
  #opening: Promise<Session | Http1> | undefined
  /** Set for a server without TLS, or without HTTP/2 (by ALPN). */
  #http1: Http1 | undefined

  constructor(access: ServerAccess) {
    const { url, userAgent = 't8s', impersonate, rateLimit } = access
    this.#access = access
    this.#url = new URL(url)
    this.#host = this.#url.host
    this.#prefix = this.#url.pathname.replace(/\/+$/, '')
    this.#headers = { 'user-agent': userAgent, ...(impersonate && impersonationHeaders(impersonate)) }
    this.#bucket = rateLimit && new TokenBucket(rateLimit)
  }

  /** Aborted when the connection is closed. */
  get closed(): AbortSignal {
    return this.#closing.signal
  }

  /**
   * Sends a request; resolves when the response begins. Rejects with ConnectionLost if there is none, or with
   * RequestCanceled if the request is aborted.
   */
  async send(request: ClientRequest): Promise<ClientResponse> {
    const { method, path, token, signal, credentials = this.#access.credentials, rateLimiter = this.#bucket } = request
    const { metrics } = this.#access
    const label = `${method} ${path}`
    const began = performance.now()
    await this.#waitForRateLimit(label, signal, rateLimiter)
    if (rateLimiter) metrics?.waited(method, this.#host, (performance.now() - began) / 1000)
    const authorization = token ? `Bearer ${token}` : await credentials?.authorization?.()
    const sent = this.#send(request, authorization, label)
    return metrics ? measureRequest(sent, request, this.#host, metrics) : sent
  }

  async #send(request: ClientRequest, authorization: string | undefined, label: string): Promise<ClientResponse> {
    const { method, path, signal, body, timeoutMs } = request
    const transport = await this.#session(label)
    if (signal?.aborted || this.#closing.signal.aborted) throw new RequestCanceled(`${label} was canceled`)
    const headers = this.#headersOf(request, authorization)
    if (transport instanceof Http1)
      return transport.exchange({ method, path: `${this.#prefix}${path}`, headers, body, signal, timeoutMs, label })
    return this.#exchange(transport, request, headers, label)
  }

  /** Drops the credentials of a request after a 401. Returns true if a retry may use other credentials. */
  invalidateCredentials({ token, credentials }: ClientRequest): boolean {
    if (token) return false
    if (credentials) return credentials.invalidate?.() ?? false
    const hasOthers = this.#access.credentials?.invalidate?.() ?? false
    // The certificate is part of the TLS handshake, so the next request needs a new connection.
    if (hasOthers && this.#access.credentials?.certificate) this.#retire()
    return hasOthers
  }

  /** Closes the connection and cancels its requests. */
  close(): void {
    this.#closing.abort()
    for (const { http2 } of this.#sessions) http2.destroy()
    this.#sessions.clear()
    this.#http1?.close()
  }

  async #waitForRateLimit(
    label: string,
    signal: AbortSignal | undefined,
    limiter: TokenBucket | undefined,
  ): Promise<void> {
    const waitMs = limiter?.take() ?? 0
    if (waitMs === 0) return
    const { promise, resolve } = Promise.withResolvers<void>()
    const timer = setTimeout(resolve, waitMs)
    const stop = (): void => resolve()
    signal?.addEventListener('abort', stop, { once: true })
    await promise
    signal?.removeEventListener('abort', stop)
    clearTimeout(timer)
    if (signal?.aborted) throw new RequestCanceled(`${label} was canceled`)
  }

  #headersOf(
    { accept = 'application/json', contentType, impersonate }: ClientRequest,
    authorization: string | undefined,
  ): Record<string, string | string[]> {
    return {
      ...this.#headers,
      ...(impersonate && impersonationHeaders(impersonate)),
      accept,
      ...(authorization && { authorization }),
      ...(contentType && { 'content-type': contentType }),
    }
  }

  #exchange(
    session: Session,
    request: ClientRequest,
    headers: Readonly<Record<string, string | string[]>>,
    label: string,
  ): Promise<ClientResponse> {
    const { body, signal, timeoutMs } = request
    const { promise, resolve, reject } = Promise.withResolvers<ClientResponse>()
    const stream = this.#openStream(session, request, headers, label)
    session.streams++
    const responseBody = new ResponseBody(stream)
    const unsent = body && upload(stream, body)
    const abort = (error: Error): void => {
      stream.close(constants.NGHTTP2_CANCEL)
      stream.destroy(error)
    }
    const cancel = (): void => abort(new RequestCanceled(`${label} was canceled`))
    signal?.addEventListener('abort', cancel, { once: true })
    const timer =
      timeoutMs &&
      setTimeout(() => abort(new ConnectionLost(`${label}: no response within ${timeoutMs / 1000} s`, true)), timeoutMs)
    let hasResponse = false
    stream.on('response', (head) => {
      hasResponse = true
      resolve({ status: head[':status'] ?? 0, headers: head, body: responseBody })
    })
    stream.on('error', (error) => {
      if (error instanceof RequestCanceled || error instanceof ConnectionLost) reject(error)
      else reject(this.#lost(session, label, error, hasReached(session, stream)))
    })
    stream.on('close', () => {
      clearTimeout(timer || undefined)
      signal?.removeEventListener('abort', cancel)
      session.streams--
      session.unsent += unsent?.() ?? 0
      if (session.unsent > maxUnsentBytes) session.http2.close()
      // Closed streams survive young collections (docs/decisions/0049); release what their listeners hold.
      stream.removeAllListeners().on('error', ignore)
      // Creating an Error is slow, and most requests do not need one.
      if (hasResponse) return
      const error = new Error('the connection was closed without a response')
      reject(this.#lost(session, label, error, hasReached(session, stream)))
    })
    return promise
  }

  /** Throws ConnectionLost if the connection accepts no streams any more. */
  #openStream(
    session: Session,
    { method, path, body }: ClientRequest,
    headers: Readonly<Record<string, string | string[]>>,
    label: string,
  ): ClientHttp2Stream {
    try {
      return session.http2.request(
        {
          ...headers,
          ':method': method,
          ':path': `${this.#prefix}${path}`,
          ...(body && { 'content-length': body.length }),
        },
        { endStream: !body },
      )
    } catch (error) {
      throw this.#lost(session, label, error, false)
    }
  }

  /** `reached` is true if the server may have processed the request. */
  #lost({ connected }: Session, label: string, error: unknown, reached: boolean): ConnectionLost {
    const prefix = connected ? '' : `${this.#access.url} is unreachable: `
    return new ConnectionLost(`${label}: ${prefix}${connectionErrorReason(error)}`, reached, { cause: error })
  }

  /** Returns a connection with a free stream (`SETTINGS_MAX_CONCURRENT_STREAMS`), or opens one. */
  async #session(label: string): Promise<Session | Http1> {
    if (this.#closing.signal.aborted) throw new RequestCanceled(`${label}: the client is closed`)
    if (this.#http1) return this.#http1
    for (const session of this.#sessions) {
      const { http2, streams } = session
      // After a GOAWAY, a connection finishes its streams but accepts no new ones.
      if (http2.closed || http2.destroyed) continue
      if (streams < (http2.remoteSettings?.maxConcurrentStreams ?? Number.POSITIVE_INFINITY) - spareStreams)
        return session
    }
    this.#opening ??= this.#open().finally(() => {
      this.#opening = undefined
    })
    return this.#opening.catch((error) => {
      throw new ConnectionLost(`${label}: ${this.#access.url} is unreachable: ${connectionErrorReason(error)}`, false, {
        cause: error,
      })
    })
  }

  async #open(): Promise<Session | Http1> {
    const { url, dial } = this.#access
    const socket = dial ? dial() : await this.#socket()
    if (this.#closing.signal.aborted) {
      socket.destroy()
      throw new RequestCanceled('the client is closed')
    }
    if (!dial && !(socket instanceof TLSSocket && socket.alpnProtocol === 'h2')) {
      // The first request uses this socket.
      const sockets = [socket]
      this.#http1 = new Http1(this.#host, async () => sockets.pop() ?? this.#socket())
      return this.#http1
    }
    const http2 = connect(url, {
      maxSessionMemory,
      settings: { initialWindowSize: responseWindow, enablePush: false },
      createConnection: () => socket,
    })
    const session: Session = { http2, streams: 0, unsent: 0, connected: false }
    const timeout = setTimeout(
      () => http2.destroy(new Error(`no connection within ${connectTimeoutMs / 1000} s`)),
      connectTimeoutMs,
    )
    const pingTimer = setInterval(() => ping(http2), pingMs).unref()
    http2.on('connect', () => {
      session.connected = true
      clearTimeout(timeout)
      // It may have been closed while it connected.
      if (!http2.destroyed) http2.setLocalWindowSize(connectionWindow)
    })
    http2.on('close', () => {
      clearTimeout(timeout)
      clearInterval(pingTimer)
      this.#sessions.delete(session)
    })
    // Each stream gets the error, and the next request opens a new connection.
    http2.on('error', () => {})
    this.#sessions.add(session)
    return session
  }

  /** Opens a socket to the server, through the proxy if there is one. */
  async #socket(): Promise<Duplex> {
    const { ca, serverName, insecure, credentials, proxyUrl } = this.#access
    const { protocol, hostname, port } = this.#url
    const isSecure = protocol === 'https:'
    const host = hostname.replace(/^\[|\]$/g, '')
    const place = { host, port: Number(port || (isSecure ? 443 : 80)) }
    const through = proxyUrl ? await tunnel(new URL(proxyUrl), place.host, place.port, connectTimeoutMs) : undefined
    if (!isSecure)
      return through ?? whenConnected(connectPlainly(place), 'connect', connectTimeoutMs, this.#closing.signal)
    const { cert, key } = (await credentials?.certificate?.()) ?? this.#access
    const servername = serverName ?? (isIP(host) ? undefined : host)
    const tls = { ca, cert, key, ...(servername && { servername }), ...(insecure && { rejectUnauthorized: false }) }
    return secureSocket(
      { ...place, ...tls, ...(through && { socket: through }) },
      connectTimeoutMs,
      this.#closing.signal,
    )
  }

  /** Active requests continue; new requests open a new connection. */
  #retire(): void {
    for (const { http2 } of this.#sessions) http2.close()
    this.#http1 = undefined
  }
}

const ignore = (): void => {}

/** True if the server may have processed the request of a stream. */
const hasReached = ({ connected }: Session, { rstCode }: ClientHttp2Stream): boolean =>
  connected && rstCode !== constants.NGHTTP2_REFUSED_STREAM

/** Pings the server and closes the session if there is no reply. */
function ping(session: ClientHttp2Session): void {
  if (session.destroyed) return
  const timeout = setTimeout(
    () => session.destroy(new Error('the server does not respond to pings')),
    pingTimeoutMs,
  ).unref()
  session.ping(() => clearTimeout(timeout))
}
