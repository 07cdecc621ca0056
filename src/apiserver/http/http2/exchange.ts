/**
 * Requests and answers over HTTP/2 streams. Node's core stream API, without its HTTP/1 compatibility layer (half the
 * cost).
 */
import {
  constants,
  type IncomingHttpHeaders,
  type ServerHttp2Stream,
  type ServerStreamResponseOptions,
} from 'node:http2'
import type { Duplex, Readable } from 'node:stream'
import { settle } from '../../../lib/flow/settle.ts'
import type { RequestInfo } from '../../request-info/request-info.ts'
import type { UserInfo } from '../../request-info/user-info.ts'
import type { Startable } from '../bounds/fair-share.ts'
import type { Bounds } from '../bounds/index.ts'
import type { UnreadAnswer } from '../bounds/unread-answers.ts'
import { closeSignal, onceClosed } from '../close-signal.ts'
import { drained } from '../drained.ts'
import { failed, type Handler, type Request, type RequestAudit, type Response, type Sink } from '../exchange.ts'
import { IncomingBody } from '../incoming-body.ts'
import { splitTarget } from '../query.ts'
import { pieceBytes, sizeOf, writeOrCut, writePieces } from '../write-pieces.ts'

/** The other end of a session, and where its requests are counted. */
export interface Http2Peer {
  readonly clientCertificate: ReturnType<Request['clientCertificate']>
  readonly remoteAddress: string
  /** A request has come in; it is started when it is its turn. */
  begin(request: Startable): void
  /** Takes no more requests of this client on this connection: those under way go on. */
  close(): void
  /** A request is over. `reset` says what it was if it was reset: a stream that had begun, or another request. */
  end(reset: 'stream' | 'request' | undefined): void
}

export class Http2Request implements Request, UnreadAnswer, Startable {
  readonly method: string
  readonly path: string
  readonly query: URLSearchParams
  readonly rawQuery: string
  readonly protocol = 'HTTP/2'
  readonly received = performance.now()
  info!: RequestInfo
  user?: UserInfo
  flow: Request['flow'] = undefined
  deadline: number | undefined = undefined
  readonly warnings: string[] = []
  auditId = ''
  audit: RequestAudit | undefined = undefined
  older: UnreadAnswer | undefined
  newer: UnreadAnswer | undefined
  /** Whether the answer is written over time. */
  #streamed = false
  readonly #stream: ServerHttp2Stream
  readonly #headers: IncomingHttpHeaders
  readonly #rawHeaders: readonly string[]
  readonly #handler: Handler
  readonly #peer: Http2Peer
  readonly #bounds: Bounds
  #signal: AbortSignal | undefined
  #body: IncomingBody | undefined

  constructor(
    stream: ServerHttp2Stream,
    headers: IncomingHttpHeaders,
    rawHeaders: readonly string[],
    handler: Handler,
    peer: Http2Peer,
    bounds: Bounds,
  ) {
    this.#stream = stream
    this.#headers = headers
    this.#rawHeaders = rawHeaders
    this.#handler = handler
    this.#peer = peer
    this.#bounds = bounds
    this.method = String(headers[constants.HTTP2_HEADER_METHOD])
    const { path, query, rawQuery } = splitTarget(String(headers[constants.HTTP2_HEADER_PATH]))
    this.path = path
    this.query = query
    this.rawQuery = rawQuery
  }

  start(): void {
    // A reset may have come meanwhile: nobody waits for an answer then.
    if (this.#stream.closed) return
    void settle(
      () => this.#handler(this),
      (response) => this.#answer(response),
      (error) => this.#answer(failed(error)),
    )
  }

  /** The stream is closed, whatever has become of it. */
  closed(): void {
    this.#bounds.unread.forget(this)
    this.#peer.end(
      this.#stream.rstCode === constants.NGHTTP2_NO_ERROR ? undefined : this.#streamed ? 'stream' : 'request',
    )
  }

  header(name: string): string | undefined {
    const value = this.#headers[name]
    return Array.isArray(value) ? value.join(', ') : (value as string | undefined)
  }

  headerValues(name: string): readonly string[] {
    const raw = this.#rawHeaders
    const values: string[] = []
    for (let i = 0; i < raw.length; i += 2) if (raw[i] === name) values.push(raw[i + 1]!)
    return values
  }

  headerNames(): string[] {
    return Object.keys(this.#headers)
  }

  hasHeaders(prefix: string): boolean {
    // HTTP/2 knows names in lower case only.
    const raw = this.#rawHeaders
    for (let i = 0; i < raw.length; i += 2) if (raw[i]!.startsWith(prefix)) return true
    return false
  }

  clientCertificate() {
    return this.#peer.clientCertificate
  }

  get remoteAddress(): string {
    return this.#peer.remoteAddress
  }

  body(limit: number): Promise<Buffer> {
    if (this.#stream.endAfterHeaders) return Promise.resolve(Buffer.alloc(0))
    this.#body = new IncomingBody(this.#stream, this.#bounds.budget, this.header('content-length'))
    return this.#body.read(limit)
  }

  bodyStream(): Readable | undefined {
    return this.#stream.endAfterHeaders ? undefined : this.#stream
  }

  get signal(): AbortSignal {
    return (this.#signal ??= closeSignal(this.#stream))
  }

  onClose(callback: () => void): () => void {
    return onceClosed(this.#stream, callback)
  }

  /** The answer is known: the body is not needed any more, and once it is known whole it only has to be read. */
  #answer(response: Response): void {
    // HTTP/2 has no such header: the session is told to go.
    if (response.headers.connection !== undefined) {
      delete response.headers.connection
      setImmediate(() => this.#peer.close())
    }
    this.#streamed = typeof response.body === 'function'
    if (!this.#streamed) this.#stream._destroy = destroyQuietly
    this.#body?.release()
    writeOrCut(this.#stream, () => respondHttp2(this.#stream, response, this.method, this))
  }

  follow(): void {
    this.#bounds.unread.follow(this)
  }

  get unsent(): number {
    return this.#stream.writableLength
  }

  cut(): void {
    this.#stream.close(constants.NGHTTP2_CANCEL)
    this.#stream.destroy()
  }
}

class Http2Sink implements Sink {
  readonly #stream: ServerHttp2Stream
  readonly #ended: () => void

  constructor(stream: ServerHttp2Stream, ended: () => void) {
    this.#stream = stream
    this.#ended = ended
  }

  write(chunk: Buffer): void {
    if (!this.#stream.destroyed && !this.#stream.writableEnded) this.#stream.write(chunk)
  }

  get backlog(): number {
    return this.#stream.writableLength
  }

  ready(): Promise<void> {
    return drained(this.#stream)
  }

  end(): void {
    if (this.#stream.destroyed) return
    this.#stream.end()
    this.#ended()
  }

  destroy(): void {
    this.#stream.close(constants.NGHTTP2_CANCEL)
  }

  onClose(callback: () => void): void {
    onceClosed(this.#stream, callback)
  }
}

/** Listens to the `stream` event of a session. */
export const answerStreams =
  (handler: Handler, peer: Http2Peer, bounds: Bounds) =>
  (stream: ServerHttp2Stream, headers: IncomingHttpHeaders, _flags: number, rawHeaders: readonly string[]): void => {
    stream.on('error', ignored)
    let request: Http2Request | undefined = new Http2Request(stream, headers, rawHeaders, handler, peer, bounds)
    stream.on('close', () => {
      request?.closed()
      // Closed streams stay through young collections (docs/decisions/0049): requests need not stay with them.
      request = undefined
    })
    peer.begin(request)
  }

const ignored = (): void => {}

const isOver = new Error('the stream is closed')

/**
 * Node's own way to destroy a stream, for answers that are known whole. Their last write is done after the stream is
 * destroyed. Node then makes an error, with its stack (20 µs, a part in thirty of a small write), for whoever waits for
 * the end of the stream; it does not where there is one already. Nobody waits for that of such an answer.
 */
function destroyQuietly(this: Duplex, error: Error | null, callback: (error?: Error | null) => void): void {
  const state = (this as { readonly _writableState?: { errored: Error | null } })._writableState
  if (state) state.errored ??= isOver
  Object.getPrototypeOf(this)._destroy.call(this, error, callback)
}

/** Writes an answer. `request` is followed once it is known whole: from then on it only has to be read. */
function respondHttp2(stream: ServerHttp2Stream, response: Response, method: string, request: Http2Request): void {
  if (stream.destroyed || stream.closed) return
  const { status, headers, body } = response
  if (typeof body === 'function') {
    respond(stream, status, headers)
    body(new Http2Sink(stream, () => request.follow()))
    return
  }
  request.follow()
  if (body === undefined || method === 'HEAD') {
    respond(stream, status, headers, undefined, { endStream: true })
    endRequest(stream)
    return
  }
  const size = sizeOf(body)
  respond(stream, status, headers, size)
  if (Buffer.isBuffer(body) && body.length <= pieceBytes) {
    stream.end(body)
    endRequest(stream)
    return
  }
  writePieces(stream, body, () => {
    stream.end()
    endRequest(stream)
  })
}

/**
 * Since 24.7 Node takes headers as a list of names and values, which costs it less than an object: that it would copy.
 */
const [major = 0, minor = 0] = process.versions.node.split('.').map(Number)
const takesLists = major > 24 || (major === 24 && minor >= 7)

function respond(
  stream: ServerHttp2Stream,
  status: number,
  headers: Response['headers'],
  size?: number,
  options?: ServerStreamResponseOptions,
): void {
  if (takesLists) {
    stream.respond(headList(status, headers, size), options)
    return
  }
  const head = headers as Record<string, string | string[] | number>
  head[constants.HTTP2_HEADER_STATUS] = status
  if (size !== undefined) head['content-length'] = size
  stream.respond(head, options)
}

function headList(status: number, headers: Response['headers'], size: number | undefined): string[] {
  const list = [constants.HTTP2_HEADER_STATUS, String(status)]
  for (const name in headers) {
    const value = headers[name]!
    if (typeof value === 'string') list.push(name, value)
    else for (const one of value) list.push(name, one)
  }
  if (size !== undefined) list.push('content-length', String(size))
  return list
}

/** Tells a client that goes on sending after its answer to stop (RFC 9113, 8.1). */
function endRequest(stream: ServerHttp2Stream): void {
  if (!stream.endAfterHeaders && !stream.readableEnded) stream.close(constants.NGHTTP2_NO_ERROR)
}
