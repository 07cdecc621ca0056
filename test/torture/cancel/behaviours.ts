/** The behaviours of the backend of a cancel storm, and the reset of a connection. */
import type { Socket } from 'node:net'
import type { Duplex } from 'node:stream'

/** Correct ones are frequent, so that requests get past the first webhook. */
export const behaviours = [
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
export type Behaviour = (typeof behaviours)[number]

/** Raw connections under TLS, by remote port: only they can be reset. */
const connections = new Map<number, Socket>()

/** Registers the connection for `reset` until it closes. */
export function registerForReset(socket: Socket): void {
  const { remotePort = 0 } = socket
  connections.set(remotePort, socket)
  socket.on('close', () => {
    if (connections.get(remotePort) === socket) connections.delete(remotePort)
  })
}

/** Ends a connection with RST; the peer gets ECONNRESET. */
export function reset(socket: Duplex): void {
  const { remotePort } = socket as Partial<Socket>
  connections.get(remotePort ?? 0)?.resetAndDestroy()
  socket.destroy()
}
