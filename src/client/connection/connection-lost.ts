/** Errors of requests without a complete response. The message names the request and the cause. */
import { reasonOf } from '../../lib/explained-error.ts'

/**
 * The error of a request that got no response, or only a part of one.
 * @example if (error instanceof ConnectionLost && !error.reached) await retry()
 */
export class ConnectionLost extends Error {
  /** True if the server may have applied the request; false if it certainly did not see it. */
  readonly reached: boolean

  constructor(message: string, reached: boolean, options?: ErrorOptions) {
    super(message, options)
    this.name = 'ConnectionLost'
    this.reached = reached
  }
}

/**
 * The error of a request whose signal was aborted, or whose client was closed.
 * @example if (error instanceof RequestCanceled) return
 */
export class RequestCanceled extends Error {
  constructor(message: string) {
    super(message)
    this.name = 'RequestCanceled'
  }
}

const reasons: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'the server refuses connections',
  ECONNRESET: 'the connection was reset',
  ENOTFOUND: 'the host name of the server is unknown',
  EPIPE: 'the connection was closed',
  ERR_STREAM_PREMATURE_CLOSE: 'the connection was closed in the middle of the response',
  ERR_HTTP2_STREAM_CANCEL: 'the connection was closed',
  ERR_HTTP2_SESSION_ERROR: 'the server ended the connection',
  ERR_HTTP2_STREAM_ERROR: 'the server ended the request',
}

/** Describes why a connection ended. */
export function connectionErrorReason(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  const { code = '' } = error as NodeJS.ErrnoException
  // The request ended with its connection, whose error has the reason.
  if (code === 'ERR_HTTP2_STREAM_CANCEL' && error.cause) return connectionErrorReason(error.cause)
  return reasons[code] ?? reasonOf(error)
}
