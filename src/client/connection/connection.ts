/**
 * HTTP/2 to an API server: one connection that all requests and watches share, made when first needed and made again
 * when it is lost. Servers that speak HTTP/1.1 alone, and those without TLS, such as `kubectl proxy`, are spoken to in
 * that (`http1.ts`).
 */
import {
  type ClientHttp2Session,
  type ClientHttp2Stream,
  connect,
  constants,
  type IncomingHttpHeaders,
} from 'node:http2'
import { connect as connectPlainly, isIP } from 'node:net'
import type { Duplex } from 'node:stream'
import { TLSSocket } from 'node:tls'
import { bindPlainly } from '../../lib/process/plain-bind.ts'
import { AnswerBody } from './bodies/answer-body.ts'
import { upload } from './bodies/upload.ts'
import { ConnectionLost, lossOf, RequestCanceled } from './connection-lost.ts'
import { type Credentials, type Impersonation, impersonationHeaders } from './credentials/credentials.ts'
import { Http1 } from './http1.ts'
import { type RateLimit, TokenBucket } from './pacing/token-bucket.ts'
import { counted, type RequestMetrics } from './request-metrics.ts'
import { connected } from './sockets/connected.ts'
import { secureSocket } from './sockets/secure-socket.ts'
import { tunnel } from './sockets/tunnel.ts'

bindPlainly()

/** How to reach a server, and as whom. */
export interface ServerAccess {
  readonly url: string
  /** PEM bundle that the server's certificate is checked against; the authorities that Node knows unless said. */
  readonly ca?: string
  /** A client certificate, where no token says who asks. */
  readonly cert?: string
  readonly key?: string
  /** Who asks, where that is more than a certificate. */
  readonly credentials?: Credentials
  readonly impersonate?: Impersonation
  /** Whom the server has to be, where that is not the host of its URL. */
  readonly serverName?: string
  /** The server may be anybody. */
  readonly insecure?: boolean
  /** An HTTP proxy on the way. */
  readonly proxyUrl?: string
  /** Requests wait for their turn; without it they never do. */
  readonly rateLimit?: RateLimit
  /** Makes the connection, where that is none of TCP and TLS; HTTP/2 is spoken on it. */
  readonly dial?: () => Duplex
  /** Told of each request: `restClientMetrics(registry)`. */
  readonly metrics?: RequestMetrics
  /** `t8s` unless said. */
  readonly userAgent?: string
}

export interface ClientRequest {
  readonly method: string
  /** With the query. */
  readonly path: string
  /** The bearer token of who asks, in place of the connection's credentials. */
  readonly token?: string
  /** The same, where the token changes. */
  readonly credentials?: Credentials
  /** Whose turns it waits for, in place of the connection's. */
  readonly turns?: TokenBucket
  readonly impersonate?: Impersonation
  /** `application/json` unless said. */
  readonly accept?: string
  readonly contentType?: string
  readonly body?: Buffer
  /** Given up when this is aborted. */
  readonly signal?: AbortSignal
  /** Given up when its answer is not complete after so many ms; never unless said. */
  readonly timeoutMs?: number
}

export interface ClientAnswer {
  readonly status: number
  readonly headers: IncomingHttpHeaders
  /** Has to be read, or ended by a reader who stops. */
  readonly body: AsyncIterable<Buffer>
}

/** A server that accepts no connection is given up after this. Milliseconds. */
const connectTimeoutMs = 10_000
/**
 * Each connection is pinged this often, and ended if no answer comes: a frozen server is noticed within 45 s, as by
 * client-go. Milliseconds.
 */
const [pingMs, pingTimeoutMs] = [30_000, 15_000]
/** What may be under way to us before we have taken it, in bytes: for one answer, and for all. */
const answerWindow = 1024 * 1024
const connectionWindow = 16 * 1024 * 1024
/** What a connection may hold, in MB: many cancelled watches at once are no attack by our own server. */
const maxSessionMemory = 256
/** When uploads that were refused have left so much behind, what comes next begins on a new connection. Bytes. */
const mostUnsent = (maxSessionMemory / 4) * 1024 * 1024
/** Room on a connection that is left to requests, where watches fill the rest. */
const spareStreams = 8

/** A connection and what it carries. */
interface Session {
  readonly http2: ClientHttp2Session
  /** Requests under way. */
  streams: number
  /** Bytes that refused uploads have left behind. */
  unsent: number
  /** Whether there has been a server on the other side. */
  connected: boolean
}

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
  /** For a server without TLS, or one that has said that it speaks no HTTP/2. */
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
   * Resolves with the head of the answer. Rejects with ConnectionLost when there is none, with GivenUp when it is not
   * wanted any more.
   */
  async send(request: ClientRequest): Promise<ClientAnswer> {
    const { method, path, token, signal, credentials = this.#access.credentials, turns = this.#bucket } = request
    const { metrics } = this.#access
    const what = `${method} ${path}`
    const began = performance.now()
    await this.#turn(what, signal, turns)
    if (turns) metrics?.waited(method, this.#host, (performance.now() - began) / 1000)
    const authorization = token ? `Bearer ${token}` : await credentials?.authorization?.()
    const sent = this.#send(request, authorization, what)
    return metrics ? counted(sent, request, this.#host, metrics) : sent
  }

  async #send(request: ClientRequest, authorization: string | undefined, what: string): Promise<ClientAnswer> {
    const { method, path, signal, body, timeoutMs } = request
    const way = await this.#session(what)
    if (signal?.aborted || this.#closing.signal.aborted) throw new RequestCanceled(`${what} was given up`)
    const headers = this.#headersOf(request, authorization)
    if (way instanceof Http1)
      return way.exchange({ method, path: `${this.#prefix}${path}`, headers, body, signal, timeoutMs, what })
    return this.#exchange(way, request, headers)
  }

  /**
   * Credentials of a request that the server does not take any more: whether it makes sense to ask once more with
   * others.
   */
  refused({ token, credentials }: ClientRequest): boolean {
    if (token) return false
    if (credentials) return credentials.refused?.() ?? false
    const others = this.#access.credentials?.refused?.() ?? false
    // A certificate is shown once a connection.
    if (others && this.#access.credentials?.certificate) this.#retire()
    return others
  }

  /** Ends the connection and what is under way on it. */
  close(): void {
    this.#closing.abort()
    for (const { http2 } of this.#sessions) http2.destroy()
    this.#sessions.clear()
    this.#http1?.close()
  }

  async #turn(what: string, signal: AbortSignal | undefined, turns: TokenBucket | undefined): Promise<void> {
    const waitMs = turns?.take() ?? 0
    if (waitMs === 0) return
    const { promise, resolve } = Promise.withResolvers<void>()
    const timer = setTimeout(resolve, waitMs)
    const stop = (): void => resolve()
    signal?.addEventListener('abort', stop, { once: true })
    await promise
    signal?.removeEventListener('abort', stop)
    clearTimeout(timer)
    if (signal?.aborted) throw new RequestCanceled(`${what} was given up`)
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
  ): Promise<ClientAnswer> {
    const { method, path, body, signal, timeoutMs } = request
    const { promise, resolve, reject } = Promise.withResolvers<ClientAnswer>()
    const what = `${method} ${path}`
    const lost = (error: unknown, reached: boolean): ConnectionLost =>
      new ConnectionLost(
        `${what}: ${session.connected ? lossOf(error) : `${this.#access.url} cannot be reached: ${lossOf(error)}`}`,
        reached,
        { cause: error },
      )
    let stream: ClientHttp2Stream
    try {
      stream = session.http2.request(
        {
          ...headers,
          ':method': method,
          ':path': `${this.#prefix}${path}`,
          ...(body && { 'content-length': body.length }),
        },
        { endStream: !body },
      )
    } catch (error) {
      throw lost(error, false)
    }
    session.streams++
    const answer = new AnswerBody(stream)
    const unsent = body && upload(stream, body)
    const end = (error: Error): void => {
      stream.close(constants.NGHTTP2_CANCEL)
      stream.destroy(error)
    }
    const giveUp = (): void => end(new RequestCanceled(`${what} was given up`))
    signal?.addEventListener('abort', giveUp, { once: true })
    const late =
      timeoutMs &&
      setTimeout(() => end(new ConnectionLost(`${what}: no answer within ${timeoutMs / 1000} s`, true)), timeoutMs)
    let isAnswered = false
    stream.on('response', (head) => {
      isAnswered = true
      resolve({ status: head[':status'] ?? 0, headers: head, body: answer })
    })
    stream.on('error', (error) => {
      if (error instanceof RequestCanceled || error instanceof ConnectionLost) reject(error)
      else reject(lost(error, session.connected && stream.rstCode !== constants.NGHTTP2_REFUSED_STREAM))
    })
    stream.on('close', () => {
      clearTimeout(late || undefined)
      signal?.removeEventListener('abort', giveUp)
      session.streams--
      session.unsent += unsent?.() ?? 0
      if (session.unsent > mostUnsent) session.http2.close()
      // Closed streams stay through young collections (docs/decisions/0049): what we know of this request need not.
      stream.removeAllListeners().on('error', ignored)
      // Errors are dear: none is made for the many that end well.
      if (isAnswered) return
      reject(
        lost(
          new Error('the connection was closed without an answer'),
          session.connected && stream.rstCode !== constants.NGHTTP2_REFUSED_STREAM,
        ),
      )
    })
    return promise
  }

  /** One that takes another request; servers say how many they carry at once. */
  async #session(what: string): Promise<Session | Http1> {
    if (this.#closing.signal.aborted) throw new RequestCanceled(`${what}: the client is closed`)
    if (this.#http1) return this.#http1
    for (const session of this.#sessions) {
      const { http2, streams } = session
      // One that the server wants to end (GOAWAY) carries what is on it to its end, and nothing more.
      if (http2.closed || http2.destroyed) continue
      if (streams < (http2.remoteSettings?.maxConcurrentStreams ?? Number.POSITIVE_INFINITY) - spareStreams)
        return session
    }
    this.#opening ??= this.#open().finally(() => {
      this.#opening = undefined
    })
    return this.#opening.catch((error) => {
      throw new ConnectionLost(`${what}: ${this.#access.url} cannot be reached: ${lossOf(error)}`, false, {
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
      // This one is the first of many.
      const sockets = [socket]
      this.#http1 = new Http1(this.#host, async () => sockets.pop() ?? this.#socket())
      return this.#http1
    }
    const http2 = connect(url, {
      maxSessionMemory,
      settings: { initialWindowSize: answerWindow, enablePush: false },
      createConnection: () => socket,
    })
    const session: Session = { http2, streams: 0, unsent: 0, connected: false }
    const late = setTimeout(
      () => http2.destroy(new Error(`no connection within ${connectTimeoutMs / 1000} s`)),
      connectTimeoutMs,
    )
    const alive = setInterval(() => ping(http2), pingMs).unref()
    http2.on('connect', () => {
      session.connected = true
      clearTimeout(late)
      // It may have been closed while its first bytes were on their way.
      if (!http2.destroyed) http2.setLocalWindowSize(connectionWindow)
    })
    http2.on('close', () => {
      clearTimeout(late)
      clearInterval(alive)
      this.#sessions.delete(session)
    })
    // Each request is told of it, and the next one connects again.
    http2.on('error', () => {})
    this.#sessions.add(session)
    return session
  }

  /** A connection to the server, through its proxy if it has one. */
  async #socket(): Promise<Duplex> {
    const { ca, serverName, insecure, credentials, proxyUrl } = this.#access
    const { protocol, hostname, port } = this.#url
    const isSecure = protocol === 'https:'
    const host = hostname.replace(/^\[|\]$/g, '')
    const place = { host, port: Number(port || (isSecure ? 443 : 80)) }
    const through = proxyUrl ? await tunnel(new URL(proxyUrl), place.host, place.port, connectTimeoutMs) : undefined
    if (!isSecure) return through ?? connected(connectPlainly(place), 'connect', connectTimeoutMs, this.#closing.signal)
    const { cert, key } = (await credentials?.certificate?.()) ?? this.#access
    const servername = serverName ?? (isIP(host) ? undefined : host)
    const tls = { ca, cert, key, ...(servername && { servername }), ...(insecure && { rejectUnauthorized: false }) }
    return secureSocket(
      { ...place, ...tls, ...(through && { socket: through }) },
      connectTimeoutMs,
      this.#closing.signal,
    )
  }

  /** What is under way goes on; what comes next begins on a new connection. */
  #retire(): void {
    for (const { http2 } of this.#sessions) http2.close()
    this.#http1 = undefined
  }
}

const ignored = (): void => {}

/** Ends a session whose other side does not answer any more. */
function ping(session: ClientHttp2Session): void {
  if (session.destroyed) return
  const late = setTimeout(
    () => session.destroy(new Error('the server does not answer any more')),
    pingTimeoutMs,
  ).unref()
  session.ping(() => clearTimeout(late))
}
