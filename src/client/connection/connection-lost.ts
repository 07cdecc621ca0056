/**
 * What requests reject with when no answer comes, or only a part of one: it says what happened, to which request, and
 * whether the server may have acted.
 */
import { reasonOf } from '../../lib/explained-error.ts'

/** No answer, or a part of one. */
export class ConnectionLost extends Error {
  /** Whether the server may have acted on the request; false where it surely did not see it. */
  readonly reached: boolean

  constructor(message: string, reached: boolean, options?: ErrorOptions) {
    super(message, options)
    this.name = 'ConnectionLost'
    this.reached = reached
  }
}

/** A request that was aborted by who sent it, or whose client was closed. */
export class RequestCanceled extends Error {
  constructor(message: string) {
    super(message)
    this.name = 'GivenUp'
  }
}

const told: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'the server accepts no connections',
  ECONNRESET: 'the connection was reset',
  ENOTFOUND: 'the name of the server is not known',
  EPIPE: 'the connection was closed',
  ERR_STREAM_PREMATURE_CLOSE: 'the connection was closed in the middle of the answer',
  ERR_HTTP2_STREAM_CANCEL: 'the connection was closed',
  ERR_HTTP2_SESSION_ERROR: 'the server ended the connection',
  ERR_HTTP2_STREAM_ERROR: 'the server ended the request',
}

/** Why a connection ended, in words. */
export function lossOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  const { code = '' } = error as NodeJS.ErrnoException
  // A request that ends with its connection has the reason of that.
  if (code === 'ERR_HTTP2_STREAM_CANCEL' && error.cause) return lossOf(error.cause)
  return told[code] ?? reasonOf(error)
}
