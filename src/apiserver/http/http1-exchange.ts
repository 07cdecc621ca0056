/** Requests and answers over HTTP/1.1. */
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { TLSSocket } from 'node:tls'
import { badRequest, requestEntityTooLarge } from '../../machinery/status-error.ts'
import type { RequestInfo } from '../request/request-info.ts'
import { closeSignal } from './close-signal.ts'
import { drained } from './drained.ts'
import type { Request, Response, Sink, UserInfo } from './exchange.ts'
import { splitTarget } from './query.ts'

/** Nobody will read it, and it is no error of ours. */
const clientGone = () => badRequest('unexpected EOF')

export class Http1Request implements Request {
  readonly method: string
  readonly path: string
  readonly query: URLSearchParams
  readonly protocol = 'HTTP/1.1'
  readonly received = performance.now()
  info!: RequestInfo
  user?: UserInfo
  readonly warnings: string[] = []
  readonly #message: IncomingMessage
  readonly #response: ServerResponse
  #signal: AbortSignal | undefined

  constructor(message: IncomingMessage, response: ServerResponse) {
    this.#message = message
    this.#response = response
    this.method = message.method ?? 'GET'
    const { path, query } = splitTarget(message.url ?? '/')
    this.path = path
    this.query = query
  }

  header(name: string): string | undefined {
    const value = this.#message.headers[name]
    return Array.isArray(value) ? value.join(', ') : value
  }

  headerNames(): string[] {
    return Object.keys(this.#message.headers)
  }

  clientCertificate() {
    const socket = this.#message.socket as TLSSocket
    const certificate = socket.getPeerCertificate?.(true)
    return certificate && Object.keys(certificate).length > 0 ? { certificate, authorized: socket.authorized } : undefined
  }

  get remoteAddress(): string {
    return this.#message.socket.remoteAddress ?? ''
  }

  body(limit: number): Promise<Buffer> {
    return new Promise((resolve, reject) => {
      const chunks: Buffer[] = []
      let size = 0
      this.#message.on('data', (chunk: Buffer) => {
        size += chunk.length
        if (size <= limit) chunks.push(chunk)
        else {
          this.#message.removeAllListeners('data')
          this.#message.resume()
          reject(requestEntityTooLarge(`Request entity too large: limit is ${limit}`))
        }
      })
      this.#message.on('end', () => resolve(chunks.length === 1 ? chunks[0]! : Buffer.concat(chunks, size)))
      for (const event of ['error', 'aborted']) this.#message.on(event, () => reject(clientGone()))
    })
  }

  get signal(): AbortSignal {
    // The message itself is closed as soon as its body has been read.
    return (this.#signal ??= closeSignal(this.#response))
  }
}

class Http1Sink implements Sink {
  readonly #response: ServerResponse

  constructor(response: ServerResponse) {
    this.#response = response
  }

  write(chunk: Buffer): void {
    if (!this.#response.destroyed && !this.#response.writableEnded) this.#response.write(chunk)
  }

  get backlog(): number {
    return this.#response.writableLength
  }

  ready(): Promise<void> {
    return drained(this.#response)
  }

  end(): void {
    this.#response.end()
  }

  destroy(): void {
    this.#response.destroy()
  }

  onClose(callback: () => void): void {
    if (this.#response.destroyed) callback()
    else this.#response.on('close', callback)
  }
}

/** Writes an answer; bodies of known length carry Content-Length, streams are chunked. */
export function respondHttp1(response: ServerResponse, { status, headers, body }: Response): void {
  if (response.destroyed || response.headersSent) return
  if (typeof body === 'function') {
    response.writeHead(status, headers)
    response.flushHeaders()
    body(new Http1Sink(response))
    return
  }
  const parts: readonly Buffer[] = body === undefined ? [] : Buffer.isBuffer(body) ? [body] : (body as readonly Buffer[])
  response.writeHead(status, { ...headers, 'content-length': parts.reduce((sum, part) => sum + part.length, 0) })
  for (const part of parts.slice(0, -1)) response.write(part)
  response.end(parts.at(-1))
}
