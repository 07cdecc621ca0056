/**
 * One request and its response, the same over HTTP/1.1 and HTTP/2. Filters and endpoints see nothing else of the
 * network: they take a `Request` and return a `Response`.
 */

import type { Duplex, Readable } from 'node:stream'
import type { PeerCertificate } from 'node:tls'
import { writeJson } from '../../lib/exact-json.ts'
import { type Status, statusOf } from '../../machinery/status-error.ts'
import type { RequestContext } from '../request-info/request-context.ts'

/** The peer's certificate chain. `authorized` is true if the listener's CA has signed it. */
export interface ClientCertificate {
  readonly certificate: PeerCertificate
  readonly authorized: boolean
}

/** A request as HTTP knows it, and what filters have found out about it. */
export interface Request extends HttpRequest, RequestContext {}

export interface HttpRequest {
  readonly method: string
  /** The path, without the query, not decoded. */
  readonly path: string
  /** The query, decoded; empty when there is none. */
  readonly query: URLSearchParams
  /** The query as it came, without the question mark. */
  readonly rawQuery: string
  /** A header's value; names in lower case. */
  header(name: string): string | undefined
  /** The values of a header that occurs several times, unmodified: a comma within one is part of it. */
  headerValues(name: string): readonly string[]
  /** The names of all headers, in lower case. */
  headerNames(): string[]
  /** Returns true if a header's name, in lower case, has this prefix. */
  hasHeaders(prefix: string): boolean
  /** Undefined if the client sent none. */
  clientCertificate(): ClientCertificate | undefined
  readonly remoteAddress: string
  readonly protocol: 'HTTP/1.1' | 'HTTP/2'
  /** Reads the whole body. Throws StatusErrors: 413 above `limit` bytes, 429 if too many bodies are in progress. */
  body(limit: number): Promise<Buffer>
  /** The size of the body, once all of it was read; undefined until then. */
  readonly bodyBytes: number | undefined
  /** The body as a stream, to be passed on; undefined if there is none. */
  bodyStream(): Readable | undefined
  /** Aborted when the client has disconnected or the response is complete. Created on first access. */
  readonly signal: AbortSignal
  /**
   * Calls back when `signal` is aborted, immediately if it is already; costs less than `signal`. The returned function
   * cancels that.
   */
  onClose(callback: () => void): () => void
  /** The time of arrival, in ms of `performance.now()`. */
  readonly received: number
}

/** The writer of a streamed response. */
export interface Sink {
  /** Writes a chunk, which must not be modified afterwards; several callers may share one buffer. */
  write(chunk: Buffer): void
  /** Bytes written and not yet sent. */
  readonly backlog: number
  /** Resolves when the backlog is small enough to write more, and when the client has disconnected. */
  ready(): Promise<void>
  end(): void
  /** Ends the connection (HTTP/1.1) or stream (HTTP/2) immediately. */
  destroy(): void
  onClose(callback: () => void): void
}

/** A large body that is generated piece by piece as the client reads it, so that slow readers hold no copies. */
export interface Pieces extends Iterable<Buffer> {
  /** Bytes in total, if known in advance. */
  readonly size?: number
}

export interface Response {
  readonly status: number
  /** Names in lower case. */
  readonly headers: Record<string, string | string[]>
  /** The complete body, in one or several pieces, or a function that writes it over time. */
  readonly body?: Buffer | readonly Buffer[] | Pieces | ((sink: Sink) => void)
  /** The body if it is a Status: audit events record it. */
  readonly outcome?: Status
  /** Watches: resolves when the initial state has been sent. */
  readonly initialised?: Promise<void>
  /** Watches: returns the number of events sent so far, without bookmarks. */
  readonly sentEvents?: () => number
  /**
   * In place of a response, to requests for another protocol (`Connection: Upgrade`, HTTP/1.1 only): takes over the
   * connection, with the bytes that came after the headers.
   */
  readonly takeOver?: (socket: Duplex, head: Buffer) => void
}

/** Answers a request: synchronously if it waits for nothing. A thrown error is the same as a rejected promise. */
export type Handler = (request: Request) => Response | Promise<Response>

/** A plain text response. */
export const text = (status: number, body: string, headers: Record<string, string> = {}): Response => ({
  status,
  headers: { 'content-type': 'text/plain; charset=utf-8', 'x-content-type-options': 'nosniff', ...headers },
  body: Buffer.from(body),
})

/** A JSON response that is no API object. */
export const json = (status: number, value: unknown): Response => ({
  status,
  headers: { 'content-type': 'application/json' },
  body: Buffer.from(writeJson(value)),
})

/** The last resort: filters answer errors themselves; an error that gets through them is a 500. */
export const unexpectedErrorResponse = (error: unknown): Response => ({
  status: 500,
  headers: { 'content-type': 'application/json' },
  body: Buffer.from(JSON.stringify(statusOf(error).status)),
})

/** The response of upstream's multiplexer for paths that nobody serves. */
export const pageNotFound = (): Response => text(404, '404 page not found\n')
