/** The requests that the proxy sends to endpoints, in the terms of HTTP/1.1 and HTTP/2 alike. */
import type { IncomingHttpHeaders, OutgoingHttpHeaders } from 'node:http'
import type { Readable } from 'node:stream'

export interface BackendRequest {
  readonly method: string
  /** With its query. */
  readonly path: string
  readonly authority: string
  /** Without `host` and those of the connection. */
  readonly headers: OutgoingHttpHeaders
  /** Undefined for a request without a body. It is read once there is a connection. */
  readonly body: Readable | undefined
  /** Cancels the request, also while the response is being read. */
  readonly signal: AbortSignal
}

export interface BackendResponse {
  readonly status: number
  readonly headers: IncomingHttpHeaders
  /** True if the head ends the response, which matters to gRPC: then it has the status, too. */
  readonly endsWithHead?: boolean
  /** Ends with an error if the response is not complete. */
  readonly body: Readable
  /** Known at the end of the body. */
  trailers(): Readonly<NodeJS.Dict<string | string[]>>
}

/** The request has not reached the endpoint: another one may get it. */
export class NotConnected extends Error {
  constructor(cause: unknown) {
    super(cause instanceof Error ? cause.message : String(cause), { cause })
    this.name = 'NotConnected'
  }
}
