/** Requests and answers over HTTP/2 streams. Node's core stream API, without its HTTP/1 compatibility layer (half the cost). */
import { constants, type IncomingHttpHeaders, type ServerHttp2Session, type ServerHttp2Stream } from 'node:http2'
import type { PeerCertificate, TLSSocket } from 'node:tls'
import { badRequest, requestEntityTooLarge } from '../../machinery/status-error.ts'
import type { RequestInfo } from '../request/request-info.ts'
import { closeSignal } from './close-signal.ts'
import { drained } from './drained.ts'
import { failed, type Handler, type Request, type Response, type Sink, type UserInfo } from './exchange.ts'
import { splitTarget } from './query.ts'

/** Larger bodies are written in pieces, each when the one before has been taken: Node limits a session's memory. */
const pieceBytes = 256 * 1024

/** What is asked of a session once, not once a request: the certificate costs 35 µs. */
interface Peer {
  readonly certificate: { readonly certificate: PeerCertificate; readonly authorized: boolean } | undefined
  readonly address: string
}

const peers = new WeakMap<ServerHttp2Session, Peer>()

function peerOf(session: ServerHttp2Session): Peer {
  let peer = peers.get(session)
  if (!peer) {
    const socket = session.socket as TLSSocket
    const certificate = socket.getPeerCertificate?.(true)
    peer = {
      certificate: certificate && Object.keys(certificate).length > 0 ? { certificate, authorized: socket.authorized } : undefined,
      address: socket.remoteAddress ?? '',
    }
    peers.set(session, peer)
  }
  return peer
}

/** Nobody will read it, and it is no error of ours. */
const clientGone = () => badRequest('unexpected EOF')

export class Http2Request implements Request {
  readonly method: string
  readonly path: string
  readonly query: URLSearchParams
  readonly protocol = 'HTTP/2'
  readonly received = performance.now()
  info!: RequestInfo
  user?: UserInfo
  readonly warnings: string[] = []
  readonly #stream: ServerHttp2Stream
  readonly #headers: IncomingHttpHeaders
  #signal: AbortSignal | undefined

  constructor(stream: ServerHttp2Stream, headers: IncomingHttpHeaders) {
    this.#stream = stream
    this.#headers = headers
    this.method = String(headers[constants.HTTP2_HEADER_METHOD])
    const { path, query } = splitTarget(String(headers[constants.HTTP2_HEADER_PATH]))
    this.path = path
    this.query = query
  }

  header(name: string): string | undefined {
    const value = this.#headers[name]
    return Array.isArray(value) ? value.join(', ') : (value as string | undefined)
  }

  headerNames(): string[] {
    return Object.keys(this.#headers)
  }

  clientCertificate() {
    const session = this.#stream.session as ServerHttp2Session | undefined
    return session && peerOf(session).certificate
  }

  get remoteAddress(): string {
    const session = this.#stream.session as ServerHttp2Session | undefined
    return session ? peerOf(session).address : ''
  }

  body(limit: number): Promise<Buffer> {
    return new Promise((resolve, reject) => {
      const stream = this.#stream
      if (stream.endAfterHeaders) return resolve(Buffer.alloc(0))
      let first: Buffer | undefined
      let chunks: Buffer[] | undefined
      let size = 0
      stream.on('data', (chunk: Buffer) => {
        size += chunk.length
        if (size > limit) {
          stream.removeAllListeners('data')
          stream.resume()
          return reject(requestEntityTooLarge(`Request entity too large: limit is ${limit}`))
        }
        if (!first) first = chunk
        else (chunks ??= [first]).push(chunk)
      })
      stream.on('end', () => resolve(chunks ? Buffer.concat(chunks, size) : (first ?? Buffer.alloc(0))))
      // Comes with every error, before it.
      stream.on('aborted', () => reject(clientGone()))
    })
  }

  get signal(): AbortSignal {
    return (this.#signal ??= closeSignal(this.#stream))
  }
}

class Http2Sink implements Sink {
  readonly #stream: ServerHttp2Stream

  constructor(stream: ServerHttp2Stream) {
    this.#stream = stream
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
    if (!this.#stream.destroyed) this.#stream.end()
  }

  destroy(): void {
    this.#stream.close(constants.NGHTTP2_CANCEL)
  }

  onClose(callback: () => void): void {
    if (this.#stream.destroyed) callback()
    else this.#stream.on('close', callback)
  }
}

/** Listens to a session's `stream` event. */
export const answerStreams =
  (handler: Handler) =>
  (stream: ServerHttp2Stream, headers: IncomingHttpHeaders): void => {
    stream.on('error', () => {}) // resets by the client; close follows
    const request = new Http2Request(stream, headers)
    handler(request).then(
      (answer) => respondHttp2(stream, answer, request.method),
      (error) => respondHttp2(stream, failed(error), request.method),
    )
  }

/** Writes an answer. A body above `pieceBytes` waits for `drain` between pieces. */
export function respondHttp2(stream: ServerHttp2Stream, response: Response, method: string): void {
  if (stream.destroyed || stream.closed) return
  const { status, headers, body } = response
  const head = headers as Record<string, string | string[] | number>
  head[constants.HTTP2_HEADER_STATUS] = status
  if (typeof body === 'function') {
    stream.respond(head)
    body(new Http2Sink(stream))
    return
  }
  if (body === undefined || method === 'HEAD') {
    stream.respond(head, { endStream: true })
    return
  }
  if (Buffer.isBuffer(body)) {
    head['content-length'] = body.length
    stream.respond(head)
    if (body.length <= pieceBytes) stream.end(body)
    else writePieces(stream, [body])
    return
  }
  head['content-length'] = body.reduce((sum, part) => sum + part.length, 0)
  stream.respond(head)
  writePieces(stream, body)
}

function writePieces(stream: ServerHttp2Stream, parts: readonly Buffer[]): void {
  let part = 0
  let offset = 0
  const next = (): void => {
    while (part < parts.length) {
      const buffer = parts[part]!
      const piece = buffer.length - offset <= pieceBytes && offset === 0 ? buffer : buffer.subarray(offset, offset + pieceBytes)
      offset += piece.length
      if (offset >= buffer.length) {
        part++
        offset = 0
      }
      if (!stream.write(piece)) {
        if (part < parts.length) stream.once('drain', next)
        else stream.end()
        return
      }
    }
    stream.end()
  }
  next()
}
