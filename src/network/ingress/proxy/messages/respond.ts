/** Writes responses to clients. */
import type { OutgoingHttpHeaders } from 'node:http'
import type { Writable } from 'node:stream'
import type { BackendResponse } from '../connections/backend-response.ts'
import { responseHeaders } from './headers.ts'

/** The common part of responses of HTTP/1.1 and HTTP/2. */
export interface ClientResponse extends Writable {
  readonly headersSent: boolean
  statusCode: number
  setHeader(name: string, value: number | string | readonly string[]): unknown
  writeHead(status: number, headers: OutgoingHttpHeaders): unknown
  /** HTTP/1.1 only: HTTP/2 sends the head immediately. */
  flushHeaders?(): void
  addTrailers(trailers: NodeJS.Dict<string | string[]> | OutgoingHttpHeaders): void
}

/** Writes a sentence as the whole response. */
export function respondText(
  response: ClientResponse,
  status: number,
  sentence: string,
  headers: OutgoingHttpHeaders = {},
): void {
  response.writeHead(status, {
    'content-type': 'text/plain; charset=utf-8',
    'x-content-type-options': 'nosniff',
    ...headers,
  })
  response.end(`${sentence}\n`)
}

/**
 * Writes the response of a backend. Resolves at its end, and rejects if the backend does not complete it; the client's
 * connection is then closed, so that nobody takes a part for the whole.
 */
export async function respondWith(
  response: ClientResponse,
  { status, headers, endsWithHead, body, trailers }: BackendResponse,
  change: (headers: OutgoingHttpHeaders) => void,
): Promise<void> {
  const outgoing = responseHeaders(headers)
  change(outgoing)
  if (endsWithHead) {
    endWithHead(response, status, outgoing)
    return void body.resume()
  }
  response.writeHead(status, outgoing)
  const { promise, resolve, reject } = Promise.withResolvers<void>()
  // The head goes with the first bytes of the body, or alone if there are none yet.
  const flush = setImmediate(() => response.writableLength === 0 && response.flushHeaders?.())
  body.once('end', () => {
    const received = trailers()
    if (Object.keys(received).length > 0) response.addTrailers(responseHeaders(received))
    response.end()
  })
  body.on('error', reject)
  body.once('close', () => {
    if (!body.readableEnded) reject(new Error('the backend has closed the connection within its response'))
  })
  response.once('finish', resolve)
  response.once('close', () => {
    if (response.writableFinished) resolve()
    else reject(new Error('the client has closed the connection'))
  })
  body.pipe(response, { end: false })
  try {
    await promise
  } catch (error) {
    body.destroy()
    response.destroy()
    throw error
  } finally {
    clearImmediate(flush)
  }
}

/** `writeHead` would send a head that does not end the response. */
function endWithHead(response: ClientResponse, status: number, headers: OutgoingHttpHeaders): void {
  response.statusCode = status
  for (const [name, value] of Object.entries(headers)) if (value !== undefined) response.setHeader(name, value)
  response.end()
}
