/** The manners in which the backend of a cancel storm answers, and the reset of a connection. */
import type { Socket } from 'node:net'
import type { Duplex } from 'node:stream'

/** More often good than not, so that requests get behind the first webhook. */
export const manners = [
  ...Array.from({ length: 10 }, () => 'well' as const),
  'slow',
  'slow',
  'hang',
  'hang after the head',
  'reset',
  'reset after the head',
  'cut',
  'fail',
  'lie',
  'garbage',
  'huge',
  'redirect',
  'early',
  'odd head',
] as const
export type Manner = (typeof manners)[number]

/** Connections under TLS, by the port of the other side: only they can be reset. */
const connections = new Map<number, Socket>()

/** From now on the connection can be reset. It is forgotten when it ends. */
export function remember(socket: Socket): void {
  const { remotePort = 0 } = socket
  connections.set(remotePort, socket)
  socket.on('close', () => {
    if (connections.get(remotePort) === socket) connections.delete(remotePort)
  })
}

/** Ends a connection with RST, at which the other side gets ECONNRESET. */
export function reset(socket: Duplex): void {
  const { remotePort } = socket as Partial<Socket>
  connections.get(remotePort ?? 0)?.resetAndDestroy()
  socket.destroy()
}
