/**
 * One request and its answer, the same over HTTP/1.1 and HTTP/2. Filters and endpoints see nothing else of the network:
 * they take a `Request` and return a `Response`.
 */

import type { Duplex, Readable } from 'node:stream'
import type { PeerCertificate } from 'node:tls'
import { writeJson } from '../../lib/exact-json.ts'
import { type Status, statusOf } from '../../machinery/status-error.ts'
import type { RequestInfo } from '../request-info/request-info.ts'
import type { UserInfo } from '../request-info/user-info.ts'

/** The verified peer's certificate chain. `authorized` says whether the listener's CA signed it. */
export interface ClientCertificate {
  readonly certificate: PeerCertificate
  readonly authorized: boolean
}

export interface Request {
  readonly method: string
  /** The path, without the query, not decoded. */
  readonly path: string
  /** The query, decoded; empty when there is none. */
  readonly query: URLSearchParams
  /** The query as it came, without the question mark. */
  readonly rawQuery: string
  /** A header's value; names in lower case. */
  header(name: string): string | undefined
  /** The values of a header that stands several times, as they came: a comma within one is part of it. */
  headerValues(name: string): readonly string[]
  /** The names of all headers, in lower case. */
  headerNames(): string[]
  /** Whether a header's name, in lower case, begins like this. */
  hasHeaders(prefix: string): boolean
  /** Undefined if the client showed none. */
  clientCertificate(): ClientCertificate | undefined
  readonly remoteAddress: string
  readonly protocol: 'HTTP/1.1' | 'HTTP/2'
  /** Reads the whole body. Throws StatusErrors: 413 above `limit` bytes, 429 when too many bodies are under way. */
  body(limit: number): Promise<Buffer>
  /** The body as it comes in, for who passes it on; undefined where there is none. */
  bodyStream(): Readable | undefined
  /** Aborted when the client has gone away or the answer is complete. Made when first asked for. */
  readonly signal: AbortSignal
  /**
   * Calls back when `signal` is aborted, at once if it is; costs less than asking for that. The returned function takes
   * it back.
   */
  onClose(callback: () => void): () => void
  /** When the request came in, ms of `performance.now()`. */
  readonly received: number
  /** When the client stops waiting, on the same clock, if it has said so. */
  deadline?: number

  // What filters find out on the way:
  /** Bytes of the body, once an object or a patch was read from it. */
  bodyBytes?: number
  /** Milliseconds that it waited for webhooks and for its turn: not the server's own. */
  waitedMs?: number
  info: RequestInfo
  user?: UserInfo
  /** The right by which it has become another's: `impersonate:user-info`. */
  impersonationConstraint?: string
  /**
   * Tells headers by which a front proxy says who a user is, where they have other names than usual: they are not
   * passed on.
   */
  isIdentityHeader?: (name: string) => boolean
  /** What it is about is deprecated. */
  isDeprecated?: boolean
  /** Sent as `Warning: 299` headers with the answer. */
  readonly warnings: string[]
  /** How it was classified, by UIDs: told in its answer, whatever that is. */
  flow?: FlowUids
  /** Which request this is, in audit events and logs. */
  auditId: string
  /** What authentication found out, for the audit event, which begins later. */
  identityAnnotations?: Readonly<Record<string, string>>
  /** The audit event of the request, where it leaves one. */
  audit?: RequestAudit
}

export interface FlowUids {
  readonly schema: string
  readonly level: string
}

/** What an audit event learns of its request. */
export interface RequestAudit {
  /** Adds an annotation; one of the level `Request` only to events that hold what was sent. */
  annotate(key: string, value: string, level?: 'Request'): void
  /** The body is an object, decoded: it tells its name too. */
  noteObject(object: object): void
  /** The body is something else: a patch, or options. */
  noteBody(value: unknown): void
}

/** Where a streamed answer is written. */
export interface Sink {
  /** Writes a chunk that must not be changed afterwards; several callers may share one buffer. */
  write(chunk: Buffer): void
  /** Bytes written and not yet taken by the network. */
  readonly backlog: number
  /** Resolves when so little waits to be sent that more may be written, and when the client has gone. */
  ready(): Promise<void>
  end(): void
  /** Ends the connection (HTTP/1.1) or stream (HTTP/2) at once. */
  destroy(): void
  onClose(callback: () => void): void
}

/** A large body that is made piece by piece as the client takes it, so that slow readers hold no copies. */
export interface Pieces extends Iterable<Buffer> {
  /** Bytes in all, where that is known beforehand. */
  readonly size?: number
}

export interface Response {
  readonly status: number
  /** Names in lower case. */
  readonly headers: Record<string, string | string[]>
  /** All of the body, in one or several pieces, or a function that writes it over time. */
  readonly body?: Buffer | readonly Buffer[] | Pieces | ((sink: Sink) => void)
  /** What the body says, where it is a Status: audit events tell it. */
  readonly outcome?: Status
  /** Watches: resolves when what was there at the beginning has been told. */
  readonly initialised?: Promise<void>
  /**
   * In place of an answer, to requests that ask for another protocol (`Connection: Upgrade`, HTTP/1.1 only): takes the
   * connection over, with what has come after the headers already.
   */
  readonly takeOver?: (socket: Duplex, head: Buffer) => void
}

/** Answers a request: at once where it waits for nothing. It may throw, which is as if its promise were rejected. */
export type Handler = (request: Request) => Response | Promise<Response>

/** A plain text answer. */
export const text = (status: number, body: string, headers: Record<string, string> = {}): Response => ({
  status,
  headers: { 'content-type': 'text/plain; charset=utf-8', 'x-content-type-options': 'nosniff', ...headers },
  body: Buffer.from(body),
})

/** A JSON answer of something that is no API object. */
export const json = (status: number, value: unknown): Response => ({
  status,
  headers: { 'content-type': 'application/json' },
  body: Buffer.from(writeJson(value)),
})

/** The last net: filters answer errors themselves; what slips through them is a 500. */
export const failed = (error: unknown): Response => ({
  status: 500,
  headers: { 'content-type': 'application/json' },
  body: Buffer.from(JSON.stringify(statusOf(error).status)),
})

/** What upstream's multiplexer answers for paths nobody serves. */
export const pageNotFound = (): Response => text(404, '404 page not found\n')
