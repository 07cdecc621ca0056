/**
 * Handles data that a client still sends over HTTP/1.1 after its response. It is read and dropped for a while: closing
 * immediately would reset the connection, and the client might lose the response that gives the reason.
 */
import type { IncomingMessage, ServerResponse } from 'node:http'

/** As Go's server: a connection survives an early response if no more than this remains of the request. */
const maxKeptRest = 256 * 1024

/** If more arrives, the connection is closed. */
const maxDroppedBytes = 16 * 1024 * 1024

/** Returns true if so much may still arrive that the connection has to be closed. */
export const isTooMuchToKeep = ({ headers }: IncomingMessage): boolean =>
  !(Number(headers['content-length']) <= maxKeptRest)

/**
 * Ends the response, whose bytes are written, when the request has ended; closes the connection if that takes too long.
 */
export function dropRest(message: IncomingMessage, response: ServerResponse, lingerMs: number): void {
  const { socket } = message
  let dropped = 0
  const deadline = setTimeout(() => socket.destroy(), lingerMs)
  deadline.unref()
  message.on('data', (chunk: Buffer) => {
    dropped += chunk.length
    if (dropped > maxDroppedBytes) socket.destroy()
  })
  message.on('end', () => response.end())
  message.on('close', () => clearTimeout(deadline))
  message.resume()
}
