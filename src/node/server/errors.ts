/** Errors of a kubelet, as responses. */
import { type ServerResponse, STATUS_CODES } from 'node:http'
import type { Duplex } from 'node:stream'
import { messageOf } from '../../lib/message-of.ts'
import { HttpError } from '../http-error.ts'

const statusOf = (error: unknown): number => (error instanceof HttpError ? error.status : 500)

/** Answers a request with the error; a response that has begun is cut off. */
export function sendError(response: ServerResponse, error: unknown): void {
  if (response.headersSent) response.destroy()
  else
    response
      .writeHead(statusOf(error), {
        'content-type': 'text/plain; charset=utf-8',
        ...(error instanceof HttpError && error.headers),
      })
      .end(messageOf(error))
}

/** Answers a request for an upgrade with the error, and closes its connection. */
export function sendUpgradeError(socket: Duplex, error: unknown): void {
  const status = statusOf(error)
  const text = messageOf(error)
  const headers = Object.entries(error instanceof HttpError ? error.headers : {})
  socket.end(
    `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\nContent-Type: text/plain\r\nContent-Length: ` +
      `${Buffer.byteLength(text)}\r\n${headers.map(([name, value]) => `${name}: ${value}\r\n`).join('')}` +
      `Connection: close\r\n\r\n${text}`,
  )
}
