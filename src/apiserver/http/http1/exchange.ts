/** Requests and responses over HTTP/1.1. */
import { type IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import type { Readable } from 'node:stream'
import type { TLSSocket } from 'node:tls'
import { RequestContext } from '../../request-info/request-context.ts'
import type { BodyBudget } from '../bounds/body-budget.ts'
import type { Bounds } from '../bounds/index.ts'
import type { UnreadAnswer } from '../bounds/unread-answers.ts'
import { closeSignal, onceClosed } from '../close-signal.ts'
import {
  type ClientCertificate,
  type Handler,
  type Request,
  type Response,
  unexpectedErrorResponse,
} from '../exchange.ts'
import { IncomingBody } from '../incoming-body.ts'
import { splitTarget } from '../query.ts'
import { dropRest, isTooMuchToKeep } from '../request-rest.ts'
import { ResponseSink } from '../response-sink.ts'
import { pieceBytes, sizeOf, writeOrCut, writePieces } from '../write-pieces.ts'

/** Client certificates by connection; null if there is none. Reading one takes longer than most requests. */
const peers = new WeakMap<Socket, ClientCertificate | null>()

function readPeer(socket: TLSSocket): ClientCertificate | null {
  const certificate = socket.getPeerCertificate?.(true)
  return certificate && Object.keys(certificate).length > 0 ? { certificate, authorized: socket.authorized } : null
}

export class Http1Request extends RequestContext implements Request, UnreadAnswer {
  readonly method: string
  readonly path: string
  readonly query: URLSearchParams
  readonly rawQuery: string
  readonly protocol = 'HTTP/1.1'
  readonly received = performance.now()
  older: UnreadAnswer | undefined
  newer: UnreadAnswer | undefined
  readonly #message: IncomingMessage
  readonly #response: ServerResponse
  readonly #budget: BodyBudget
  #body: IncomingBody | undefined
  #signal: AbortSignal | undefined
  /** The client waits for `100 Continue` before it sends the body. */
  #waits: boolean

  constructor(message: IncomingMessage, response: ServerResponse, budget: BodyBudget, waits: boolean) {
    super()
    this.#message = message
    this.#response = response
    this.#budget = budget
    this.#waits = waits
    this.method = message.method ?? 'GET'
    const { path, query, rawQuery } = splitTarget(message.url ?? '/')
    this.path = path
    this.query = query
    this.rawQuery = rawQuery
  }

  header(name: string): string | undefined {
    const value = this.#message.headers[name]
    return Array.isArray(value) ? value.join(', ') : value
  }

  headerValues(name: string): readonly string[] {
    return this.#message.headersDistinct[name] ?? []
  }

  headerNames(): string[] {
    return Object.keys(this.#message.headers)
  }

  hasHeaders(prefix: string): boolean {
    for (const name in this.#message.headers) if (name.startsWith(prefix)) return true
    return false
  }

  clientCertificate(): ClientCertificate | undefined {
    const socket = this.#message.socket as TLSSocket
    let peer = peers.get(socket)
    if (peer === undefined) peers.set(socket, (peer = readPeer(socket)))
    return peer ?? undefined
  }

  get remoteAddress(): string {
    return this.#message.socket.remoteAddress ?? ''
  }

  body(limit: number): Promise<Buffer> {
    this.#body = new IncomingBody(this.#message, this.#budget, this.header('content-length'))
    const body = this.#body.read(limit)
    if (this.#waits && this.#body.isBeingRead) {
      this.#waits = false
      this.#response.writeContinue()
    }
    return body
  }

  get bodyBytes(): number | undefined {
    return this.#body?.size
  }

  bodyStream(): Readable | undefined {
    const { headers } = this.#message
    if (!headers['transfer-encoding'] && !Number(headers['content-length'])) return undefined
    if (this.#waits) {
      this.#waits = false
      this.#response.writeContinue()
    }
    return this.#message
  }

  get signal(): AbortSignal {
    // The message itself is closed as soon as its body has been read.
    return (this.#signal ??= closeSignal(this.#response))
  }

  onClose(callback: () => void): () => void {
    return onceClosed(this.#response, callback)
  }

  /** Called when the response is known: the body is not needed any more. */
  answered(): void {
    if (!this.#body) return
    this.#body.release()
    // Unread parts of it would block the next request.
    this.#message.resume()
  }

  /** True if the client waits for `100 Continue`, so that it will not send its body. */
  get awaitsContinue(): boolean {
    return this.#waits
  }

  get unsent(): number {
    return this.#response.writableLength
  }

  cut(): void {
    this.#response.destroy()
  }
}

/** Calls a handler, always asynchronously: the parser reports only after the event whether the request is complete. */
const handleLater = (handler: Handler, request: Request): Promise<Response> =>
  new Promise((resolve) => resolve(handler(request)))

/** Returns a listener for the `request` event of a server; `waits` for `checkContinue`. */
export const answerMessages =
  (handler: Handler, { limits: { lingerMs }, budget, unread }: Bounds, waits = false) =>
  (message: IncomingMessage, response: ServerResponse): void => {
    const request = new Http1Request(message, response, budget, waits)
    response.on('close', () => unread.forget(request))
    const answer = (answered: Response): void => {
      request.answered()
      if (response.destroyed || response.headersSent) return
      writeOrCut(response, () =>
        respondHttp1(message, response, answered, {
          waits: request.awaitsContinue,
          lingerMs,
          follow: () => unread.follow(request),
        }),
      )
    }
    handleLater(handler, request).then(answer, (error) => answer(unexpectedErrorResponse(error)))
  }

/**
 * Returns a listener for the `upgrade` event of a server: such requests are handled like all others, and some of them
 * take over the connection.
 */
export const answerUpgrades =
  (handler: Handler, { limits: { lingerMs }, budget, unread }: Bounds) =>
  (message: IncomingMessage, socket: Socket, head: Buffer): void => {
    socket.on('error', () => socket.destroy())
    const response = new ServerResponse(message)
    response.shouldKeepAlive = false
    response.assignSocket(socket)
    const request = new Http1Request(message, response, budget, false)
    response.on('close', () => unread.forget(request))
    const answer = (answered: Response): void => {
      if (response.destroyed) return
      if (answered.takeOver) {
        response.detachSocket(socket)
        answered.takeOver(socket, head)
        return
      }
      response.on('finish', () => {
        socket.end()
        response.emit('close')
      })
      writeOrCut(response, () =>
        respondHttp1(message, response, answered, { waits: true, lingerMs, follow: () => unread.follow(request) }),
      )
    }
    handleLater(handler, request).then(answer, (error) => answer(unexpectedErrorResponse(error)))
  }

interface ResponseOptions {
  /** The client waits for `100 Continue` before it sends its body. */
  readonly waits: boolean
  readonly lingerMs: number
  /** Called when the response is completely known: from then on it only has to be read. */
  readonly follow: () => void
}

/** Writes a response; bodies of known length have Content-Length, others are chunked. */
function respondHttp1(
  message: IncomingMessage,
  response: ServerResponse,
  { status, headers, body }: Response,
  { waits, lingerMs, follow }: ResponseOptions,
): void {
  if (typeof body === 'function') {
    response.writeHead(status, headers)
    response.flushHeaders()
    body(new ResponseSink(response, { follow, abort: () => response.destroy() }))
    return
  }
  follow()
  const head: Record<string, string | string[] | number> = headers
  const size = body === undefined ? 0 : sizeOf(body)
  if (size !== undefined) head['content-length'] = size
  const { complete } = message
  // The client may still be sending: it reads the response only if the connection stays open for a while.
  if (!complete && (waits || isTooMuchToKeep(message))) head.connection = 'close'
  response.writeHead(status, head)
  const end = (): void => {
    if (complete || waits) response.end()
    else dropRest(message, response, lingerMs)
  }
  if (body === undefined || message.method === 'HEAD') end()
  else if (Buffer.isBuffer(body) && body.length <= pieceBytes && complete) response.end(body)
  else writePieces(response, body, end)
}
