/** Closes connections of probes so that they do not pile up, neither on the node nor in the pod (issue 89898). */
import type { Socket } from 'node:net'
import { TLSSocket } from 'node:tls'

/**
 * The time in ms that the other side has to close. SO_LINGER, as upstream uses, is no choice: `close` would block the
 * thread of all probes.
 */
const lingerMs = 1_000

/** Closes a connection; resets it if the other side has not closed it after a second. */
export function closeSocket(socket: Socket): void {
  if (socket.destroyed) return
  const timer = setTimeout(() => resetSocket(socket), lingerMs)
  timer.unref()
  socket.on('error', () => {})
  socket.once('close', () => clearTimeout(timer))
  // Bytes that nobody reads would hold back the end.
  socket.resume()
  socket.end()
}

/** Ends a connection immediately, without waiting for the other side. */
export function resetSocket(socket: Socket): void {
  // Node cannot reset the connection below TLS.
  if (socket instanceof TLSSocket || socket.connecting) socket.destroy()
  else socket.resetAndDestroy()
}
