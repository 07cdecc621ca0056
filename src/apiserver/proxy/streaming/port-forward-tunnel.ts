/**
 * Port-forwarding over a WebSocket (KEP-4006): the client sends SPDY in WebSocket messages, the kubelet gets plain
 * SPDY, as from a client that speaks SPDY.
 */
import type { OutgoingHttpHeaders } from 'node:http'
import type { Duplex } from 'node:stream'
import { acceptOf, WebSocketConnection } from '../../../lib/websocket-connection.ts'
import { badRequest } from '../../../machinery/status-error.ts'
import type { Request } from '../../http/exchange.ts'
import type { WaitGroup } from '../../http/wait-group.ts'
import type { Translation } from '../../outgoing/forward/forward.ts'

/** The prefix of the inner protocol. */
const prefix = 'SPDY/3.1+'
const forwarding = 'portforward.k8s.io'

const protocolsOf = (request: Request): readonly string[] =>
  request
    .headerValues('sec-websocket-protocol')
    .flatMap((value) => value.split(','))
    .map((protocol) => protocol.trim())

/** True if the client requests a tunnel. */
export const wantsTunnel = (request: Request): boolean =>
  request.header('upgrade')?.toLowerCase() === 'websocket' &&
  protocolsOf(request).some((protocol) => protocol.startsWith(prefix))

/** The request to the kubelet, and the translation between both connections. Throws 400 for another inner protocol. */
export function tunnel(
  request: Request,
  headers: OutgoingHttpHeaders,
  waitGroup: WaitGroup,
): { headers: OutgoingHttpHeaders; translation: Translation } {
  const key = request.header('sec-websocket-key')
  if (!key || !protocolsOf(request).includes(prefix + forwarding))
    throw badRequest(`unable to upgrade: of WebSocket protocols only ${prefix}${forwarding} forwards ports`)
  const others = Object.entries(headers).filter(([name]) => !name.startsWith('sec-websocket-'))
  return {
    headers: { ...Object.fromEntries(others), 'x-stream-protocol-version': forwarding },
    translation: {
      method: 'POST',
      protocol: 'SPDY/3.1',
      takeOver: (_, kubelet, head) => joined(key, kubelet, head, waitGroup),
    },
  }
}

/** Takes over the connection of the client. It ends at the latest with the server. */
function joined(
  key: string,
  kubelet: Duplex,
  kubeletHead: Buffer,
  waitGroup: WaitGroup,
): (client: Duplex, clientHead: Buffer) => void {
  return (client, clientHead) => {
    const end = (): void => {
      client.destroy()
      kubelet.destroy()
    }
    const forget = waitGroup.onStop(end)
    for (const socket of [client, kubelet]) {
      socket.on('error', end)
      socket.on('drain', () => (socket === client ? kubelet : client).resume())
    }
    client.on('close', () => {
      forget()
      kubelet.destroy()
    })
    client.write(headOf(key))
    const connection = new WebSocketConnection(client, clientHead, (data) => {
      if (!kubelet.write(data)) client.pause()
    })
    const send = (data: Buffer): void => {
      connection.send(data)
      if (client.writableNeedDrain) kubelet.pause()
    }
    if (kubeletHead.length > 0) send(kubeletHead)
    kubelet.on('data', send)
    kubelet.on('close', () => connection.close())
    if (waitGroup.stopping) end()
  }
}

const headOf = (key: string): string =>
  'HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: ' +
  `${acceptOf(key)}\r\nSec-WebSocket-Protocol: ${prefix}${forwarding}\r\n\r\n`
