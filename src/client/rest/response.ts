/** Sends requests with retries. Rejections become StatusErrors, incomplete responses become ConnectionLost. */
import { parseJson } from '../../lib/exact-json.ts'
import { type Status, StatusError } from '../../machinery/status-error.ts'
import type { ClientRequest, ClientResponse, Connection } from '../connection/connection.ts'
import { ConnectionLost, connectionErrorReason, RequestCanceled } from '../connection/connection-lost.ts'
import { type ResponseHead, type RetryOutcome, withRetries } from '../connection/pacing/retries.ts'

/** A response whose body, if it succeeded, has not been read. */
interface StreamingResponse extends ResponseHead {
  readonly response: ClientResponse
  /** The body of an error response. */
  readonly text: string
}

interface CompleteResponse<T> extends ResponseHead {
  /** The parsed body of a successful response. */
  readonly value?: T
  /** The body of an error response. */
  readonly text: string
}

/**
 * Sends a request with retries and returns the parsed response. Rejects with a StatusError if the server rejects it; a
 * `cause` means that an earlier attempt may have been applied.
 */
export async function sendAndRead<T>(connection: Connection, request: ClientRequest, repeatable: boolean): Promise<T> {
  const attempt = async (): Promise<CompleteResponse<T>> => {
    const response = await connection.send(request)
    const text = await readText(request, response)
    return response.status < 300
      ? { ...headOf(response), value: parseBody<T>(request, text), text: '' }
      : { ...headOf(response), text }
  }
  const { status, text, value, ambiguousAttempt } = await sendWithRetries(connection, attempt, request, repeatable)
  if (status >= 300) throw toStatusError(status, text, ambiguousAttempt)
  return value as T
}

/** A dying server may close its streams cleanly, so that a truncated body looks complete until it is parsed. */
function parseBody<T>({ method, path }: ClientRequest, text: string): T {
  try {
    return parseJson(text) as T
  } catch (error) {
    throw new ConnectionLost(`${method} ${path}: the response broke off, or is not JSON: ${text.slice(0, 100)}`, true, {
      cause: error,
    })
  }
}

/** Sends a request with retries and resolves when the body begins. Rejects with a StatusError if it is rejected. */
export async function openStream(connection: Connection, request: ClientRequest): Promise<ClientResponse> {
  const attempt = async (): Promise<StreamingResponse> => {
    const response = await connection.send(request)
    return { ...headOf(response), response, text: response.status >= 300 ? await readText(request, response) : '' }
  }
  const { status, text, response } = await sendWithRetries(connection, attempt, request, true)
  if (status >= 300) throw toStatusError(status, text)
  return response
}

/** Retries once more after a 401 if there may be other credentials. */
async function sendWithRetries<T extends ResponseHead>(
  connection: Connection,
  attempt: () => Promise<T>,
  request: ClientRequest,
  repeatable: boolean,
): Promise<T & RetryOutcome> {
  const options = { repeatable, signal: request.signal ?? connection.closed }
  const first = await withRetries(attempt, options)
  if (first.status !== 401 || !connection.invalidateCredentials(request)) return first
  const { ambiguousAttempt } = first
  const second = await withRetries(attempt, options)
  return ambiguousAttempt ? { ...second, ambiguousAttempt } : second
}

const headOf = ({ status, headers }: ClientResponse): ResponseHead => ({ status, retryAfter: headers['retry-after'] })

async function readText(request: ClientRequest, response: ClientResponse): Promise<string> {
  const pieces: Buffer[] = []
  for await (const piece of readBody(request, response)) pieces.push(piece)
  return Buffer.concat(pieces).toString()
}

/** Yields the pieces of a body. Throws ConnectionLost if it breaks off, RequestCanceled if the request was aborted. */
export async function* readBody(
  { method, path, signal }: ClientRequest,
  { body }: ClientResponse,
): AsyncGenerator<Buffer> {
  try {
    yield* body
  } catch (error) {
    if (error instanceof ConnectionLost || error instanceof RequestCanceled) throw error
    if (signal?.aborted) throw new RequestCanceled(`${method} ${path} was canceled`)
    throw new ConnectionLost(`${method} ${path}: the response broke off: ${connectionErrorReason(error)}`, true, {
      cause: error,
    })
  }
}

export const statusError = ({ code = 500, reason, message = '', details }: Status): StatusError =>
  new StatusError(code, reason, message, details)

const maxMessageLength = 1024

function toStatusError(status: number, body: string, cause?: Error): StatusError {
  const error = parseStatusError(status, body)
  if (cause) error.cause = cause
  return error
}

function parseStatusError(status: number, body: string): StatusError {
  try {
    const parsed = JSON.parse(body) as Partial<Status>
    if (parsed.kind === 'Status') return statusError({ ...(parsed as Status), code: parsed.code ?? status })
  } catch {
    // The response is not from an API server, but for example from a proxy.
  }
  return new StatusError(status, undefined, body.slice(0, maxMessageLength) || `the server answered ${status}`)
}
