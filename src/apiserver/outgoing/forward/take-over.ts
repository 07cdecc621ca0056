/**
 * Joins two connections that speak another protocol (WebSocket, SPDY) from now on: bytes from one are written to the
 * other.
 */
import { type IncomingMessage, STATUS_CODES } from 'node:http'
import type { Duplex } from 'node:stream'
import { closeAfterDelivery } from '../../../node/streaming/backend/close-after-delivery.ts'
import type { WaitGroup } from '../../http/wait-group.ts'

/**
 * Takes over the connection of the client after the backend's `101 Switching Protocols`. It ends at the latest with the
 * server.
 */
export const takeOver =
  (incoming: IncomingMessage, backend: Duplex, backendHead: Buffer, waitGroup: WaitGroup) =>
  (client: Duplex, clientHead: Buffer): void => {
    const end = (): void => {
      client.destroy()
      backend.destroy()
    }
    const forget = waitGroup.onStop(end)
    for (const socket of [client, backend]) socket.on('error', () => socket.destroy())
    client.on('close', () => {
      forget()
      backend.destroy()
    })
    backend.on('close', () => closeAfterDelivery(client))
    client.write(headOf(incoming))
    if (backendHead.length) client.write(backendHead)
    if (clientHead.length) backend.write(clientHead)
    client.pipe(backend)
    backend.pipe(client)
    if (waitGroup.stopping) end()
  }

/** The backend's own head, as the client validates parts of it (`Sec-WebSocket-Accept`). */
function headOf({ statusCode = 101, rawHeaders }: IncomingMessage): string {
  const lines = [`HTTP/1.1 ${statusCode} ${STATUS_CODES[statusCode]}`]
  for (let i = 0; i < rawHeaders.length; i += 2) lines.push(`${rawHeaders[i]}: ${rawHeaders[i + 1]}`)
  return `${lines.join('\r\n')}\r\n\r\n`
}
