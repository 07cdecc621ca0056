/**
 * Requests and responses over HTTP/2 streams. Uses Node's core stream API, without its HTTP/1 compatibility layer, at
 * half the cost.
 */
import {
  constants,
  type IncomingHttpHeaders,
  type ServerHttp2Stream,
  type ServerStreamResponseOptions,
} from 'node:http2'
import type { Duplex, Readable } from 'node:stream'
import { settle } from '../../../lib/flow/settle.ts'
import { RequestContext } from '../../request-info/request-context.ts'
import type { Startable } from '../bounds/fair-share.ts'
import type { Bounds } from '../bounds/index.ts'
import type { UnreadAnswer } from '../bounds/unread-answers.ts'
import { closeSignal, onceClosed } from '../close-signal.ts'
import { type Handler, type Request, type Response, unexpectedErrorResponse } from '../exchange.ts'
import { IncomingBody } from '../incoming-body.ts'
import { splitTarget } from '../query.ts'
import { ResponseSink } from '../response-sink.ts'
import { pieceBytes, sizeOf, writeOrCut, writePieces } from '../write-pieces.ts'

/** The peer of a session, which counts its requests. */
export interface Http2Peer {
  readonly clientCertificate: ReturnType<Request['clientCertificate']>
  readonly remoteAddress: string
  /** Called when a request has arrived; it is started when it is its turn. */
  begin(request: Startable): void
  /** Accepts no more requests on this connection; those in progress continue. */
  close(): void
  /** Called when a request has ended. `reset` is set if it was reset: a stream that had begun, or another request. */
  end(reset: 'stream' | 'request' | undefined): void
}

export class Http2Request extends RequestContext implements Request, UnreadAnswer, Startable {
  readonly method: string
  readonly path: string
  readonly query: URLSearchParams
  readonly rawQuery: string
  readonly protocol = 'HTTP/2'
  readonly received = performance.now()
  older: UnreadAnswer | undefined
  newer: UnreadAnswer | undefined
  /** True if the response is written over time. */
  #streamed = false
  readonly #stream: ServerHttp2Stream
  readonly #headers: IncomingHttpHeaders
  readonly #rawHeaders: readonly string[]
  readonly #handler: Handler
  readonly #peer: Http2Peer
  readonly #bounds: Bounds
  #signal: AbortSignal | undefined
  #body: IncomingBody | undefined
  /** True if a body was asked for, and the request has none. */
  #bodyIsEmpty = false

  constructor(
    stream: ServerHttp2Stream,
    headers: IncomingHttpHeaders,
    rawHeaders: readonly string[],
    handler: Handler,
    peer: Http2Peer,
    bounds: Bounds,
  ) {
    super()
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
    // It may have been reset in the meantime: nobody waits for a response then.
    if (this.#stream.closed) return
    void settle(
      () => this.#handler(this),
      (response) => this.#answer(response),
      (error) => this.#answer(unexpectedErrorResponse(error)),
    )
  }

  /** Called when the stream is closed, for whatever reason. */
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
    // Names are always in lower case in HTTP/2.
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
    if (this.#stream.endAfterHeaders) {
      this.#bodyIsEmpty = true
      return Promise.resolve(Buffer.alloc(0))
    }
    this.#body = new IncomingBody(this.#stream, this.#bounds.budget, this.header('content-length'))
    return this.#body.read(limit)
  }

  get bodyBytes(): number | undefined {
    return this.#bodyIsEmpty ? 0 : this.#body?.size
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

  /** Writes the response. The body is not needed any more; once the response is complete it only has to be read. */
  #answer(response: Response): void {
    // HTTP/2 has no such header: close the session instead.
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

  abort(): void {
    this.#stream.close(constants.NGHTTP2_CANCEL)
  }

  cut(): void {
    this.abort()
    this.#stream.destroy()
  }
}

/** Returns a listener for the `stream` event of a session. */
export const answerStreams =
  (handler: Handler, peer: Http2Peer, bounds: Bounds) =>
  (stream: ServerHttp2Stream, headers: IncomingHttpHeaders, _flags: number, rawHeaders: readonly string[]): void => {
    stream.on('error', ignore)
    let request: Http2Request | undefined = new Http2Request(stream, headers, rawHeaders, handler, peer, bounds)
    stream.on('close', () => {
      request?.closed()
      // Closed streams survive young collections (docs/decisions/0049): requests need not.
      request = undefined
    })
    peer.begin(request)
  }

const ignore = (): void => {}

const closedError = new Error('the stream is closed')

/** Clients get RST_STREAM. Without an error, Node would send the regular end of the response first. */
const cutOffError = new Error('the response is cut off')

/**
 * Destroys a stream as Node does, for responses that are completely known. Their last write completes after the stream
 * is destroyed. Node then creates an error with its stack (20 µs, a thirtieth of a small write) for listeners to the
 * end of the stream, unless the stream has an error already. Nothing listens to the end of such a response.
 */
function destroyQuietly(this: Duplex, error: Error | null, callback: (error?: Error | null) => void): void {
  const state = (this as { readonly _writableState?: { errored: Error | null } })._writableState
  if (state) state.errored ??= closedError
  Object.getPrototypeOf(this)._destroy.call(this, error, callback)
}

/** Writes a response. `request` is followed once the response is complete: from then on it only has to be read. */
function respondHttp2(stream: ServerHttp2Stream, response: Response, method: string, request: Http2Request): void {
  if (stream.destroyed || stream.closed) return
  const { status, headers, body } = response
  if (typeof body === 'function') {
    respond(stream, status, headers)
    body(new ResponseSink(stream, { follow: () => request.follow(), abort: () => stream.destroy(cutOffError) }))
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
 * Since 24.7 Node takes headers as a list of names and values, which is cheaper than an object, which it would copy.
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

/** Asks a client that continues to send after its response to stop (RFC 9113, 8.1). */
function endRequest(stream: ServerHttp2Stream): void {
  if (!stream.endAfterHeaders && !stream.readableEnded) stream.close(constants.NGHTTP2_NO_ERROR)
}
