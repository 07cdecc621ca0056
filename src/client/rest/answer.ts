/** Answers of a server: read to their end, with refusals as StatusErrors and what breaks off as ConnectionLost. */
import { parseJson } from '../../lib/exact-json.ts'
import { type Status, StatusError } from '../../machinery/status-error.ts'
import type { ClientAnswer, ClientRequest, Connection } from '../connection/connection.ts'
import { ConnectionLost, lossOf, RequestCanceled } from '../connection/connection-lost.ts'
import { type Answered, type Repeated, withRetries } from '../connection/pacing/retries.ts'

/** An answer whose body is still to come, if it is a good one. */
interface Begun extends Answered {
  readonly answer: ClientAnswer
  /** Of a refusal. */
  readonly text: string
}

interface Complete<T> extends Answered {
  /** Of a good answer. */
  readonly value?: T
  /** Of a refusal. */
  readonly text: string
}

/**
 * Sends until there is an answer that counts; resolves with what it says, parsed. Rejects with a StatusError where the
 * server refuses: its `cause` is why the server may have done it all the same, at an earlier sending.
 */
export async function complete<T>(connection: Connection, request: ClientRequest, repeatable: boolean): Promise<T> {
  const attempt = async (): Promise<Complete<T>> => {
    const answer = await connection.send(request)
    const text = await textOf(request, answer)
    return answer.status < 300
      ? { ...headOf(answer), value: parsed<T>(request, text), text: '' }
      : { ...headOf(answer), text }
  }
  const { status, text, value, maybeDone } = await answered(connection, attempt, request, repeatable)
  if (status >= 300) throw refusal(status, text, maybeDone)
  return value as T
}

/** A server that ends its streams in order when it dies leaves half an answer that looks like a whole one. */
function parsed<T>({ method, path }: ClientRequest, text: string): T {
  try {
    return parseJson(text) as T
  } catch (error) {
    throw new ConnectionLost(`${method} ${path}: the answer broke off, or is no JSON: ${text.slice(0, 100)}`, true, {
      cause: error,
    })
  }
}

/**
 * Sends until there is an answer that counts, and resolves when its body begins. Rejects with a StatusError where the
 * server refuses.
 */
export async function begin(connection: Connection, request: ClientRequest): Promise<ClientAnswer> {
  const attempt = async (): Promise<Begun> => {
    const answer = await connection.send(request)
    return { ...headOf(answer), answer, text: answer.status >= 300 ? await textOf(request, answer) : '' }
  }
  const { status, text, answer } = await answered(connection, attempt, request, true)
  if (status >= 300) throw refusal(status, text)
  return answer
}

/** A request that is refused for its credentials is sent once more if there are others. */
async function answered<T extends Answered>(
  connection: Connection,
  attempt: () => Promise<T>,
  request: ClientRequest,
  repeatable: boolean,
): Promise<T & Repeated> {
  const retried = { repeatable, signal: request.signal ?? connection.closed }
  const answer = await withRetries(attempt, retried)
  if (answer.status !== 401 || !connection.refused(request)) return answer
  const { maybeDone } = answer
  const again = await withRetries(attempt, retried)
  return maybeDone ? { ...again, maybeDone } : again
}

const headOf = ({ status, headers }: ClientAnswer): Answered => ({ status, retryAfter: headers['retry-after'] })

async function textOf(request: ClientRequest, answer: ClientAnswer): Promise<string> {
  const pieces: Buffer[] = []
  for await (const piece of bodyOf(request, answer)) pieces.push(piece)
  return Buffer.concat(pieces).toString()
}

/** The pieces of a body. Throws ConnectionLost if it breaks off, GivenUp if that was wanted. */
export async function* bodyOf({ method, path, signal }: ClientRequest, { body }: ClientAnswer): AsyncGenerator<Buffer> {
  try {
    yield* body
  } catch (error) {
    if (error instanceof ConnectionLost || error instanceof RequestCanceled) throw error
    if (signal?.aborted) throw new RequestCanceled(`${method} ${path} was given up`)
    throw new ConnectionLost(`${method} ${path}: the answer broke off: ${lossOf(error)}`, true, { cause: error })
  }
}

export const statusError = ({ code = 500, reason, message = '', details }: Status): StatusError =>
  new StatusError(code, reason, message, details)

const shownBytes = 1024

function refusal(status: number, body: string, cause?: Error): StatusError {
  const error = errorOf(status, body)
  if (cause) error.cause = cause
  return error
}

function errorOf(status: number, body: string): StatusError {
  try {
    const told = JSON.parse(body) as Partial<Status>
    if (told.kind === 'Status') return statusError({ ...(told as Status), code: told.code ?? status })
  } catch {
    // Not everything that answers is an API server.
  }
  return new StatusError(status, undefined, body.slice(0, shownBytes) || `the server answered ${status}`)
}
