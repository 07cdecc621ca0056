/**
 * What a client still sends over HTTP/1.1 after its answer. It is read and dropped for a while: closing at once would
 * reset the connection, and the client might lose the answer that tells it why.
 */
import type { IncomingMessage, ServerResponse } from 'node:http'

/** As Go's server: a connection outlives an answer that comes early if no more than this is left of the request. */
const keptBytes = 256 * 1024

/** More is not even dropped. */
const droppedBytes = 16 * 1024 * 1024

/** Whether so much may come still that the connection cannot be kept. */
export const isTooMuchToKeep = ({ headers }: IncomingMessage): boolean =>
  !(Number(headers['content-length']) <= keptBytes)

/**
 * Ends the answer, whose bytes are written, when the request has ended; or the connection, when that takes too long.
 */
export function dropRest(message: IncomingMessage, response: ServerResponse, lingerMs: number): void {
  const { socket } = message
  let dropped = 0
  const deadline = setTimeout(() => socket.destroy(), lingerMs)
  deadline.unref()
  message.on('data', (chunk: Buffer) => {
    dropped += chunk.length
    if (dropped > droppedBytes) socket.destroy()
  })
  message.on('end', () => response.end())
  message.on('close', () => clearTimeout(deadline))
  message.resume()
}
