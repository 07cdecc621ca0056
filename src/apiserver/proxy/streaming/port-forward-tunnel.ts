/**
 * Port-forwarding over a WebSocket (KEP-4006): the client sends SPDY in WebSocket messages, the kubelet gets plain
 * SPDY, as from a client that speaks SPDY.
 */
import type { OutgoingHttpHeaders } from 'node:http'
import type { Duplex } from 'node:stream'
import { acceptWebSocketStream } from '../../../lib/websocket/accept-websocket.ts'
import { badRequest } from '../../../machinery/status-error.ts'
import type { Request } from '../../http/exchange.ts'
import type { WaitGroup } from '../../http/wait-group.ts'
import type { Translation } from '../../outgoing/forward/forward.ts'
import { handshakeError, offeredProtocols } from './websocket-handshake.ts'

/** The prefix of the inner protocol. */
const prefix = 'SPDY/3.1+'
const forwarding = 'portforward.k8s.io'

/** True if the client requests a tunnel. */
export const wantsTunnel = (request: Request): boolean =>
  request.header('upgrade')?.toLowerCase() === 'websocket' &&
  offeredProtocols(request).some((protocol) => protocol.startsWith(prefix))

/** The request to the kubelet, and the translation between both connections. Throws 400 for another inner protocol. */
export function tunnel(
  request: Request,
  headers: OutgoingHttpHeaders,
  waitGroup: WaitGroup,
): { headers: OutgoingHttpHeaders; translation: Translation } {
  if (!offeredProtocols(request).includes(prefix + forwarding))
    throw badRequest(`unable to upgrade: of WebSocket protocols only ${prefix}${forwarding} forwards ports`)
  const error = handshakeError(request)
  if (error) throw badRequest(`unable to upgrade: ${error}`)
  const others = Object.entries(headers).filter(([name]) => !name.startsWith('sec-websocket-'))
  return {
    headers: { ...Object.fromEntries(others), 'x-stream-protocol-version': forwarding },
    translation: {
      method: 'POST',
      protocol: 'SPDY/3.1',
      takeOver: (_, kubelet, head) => joined(request, kubelet, head, waitGroup),
    },
  }
}

/** Takes over the connection of the client. It ends at the latest with the server. */
function joined(
  request: Request,
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
    client.on('close', () => {
      forget()
      kubelet.destroy()
    })
    for (const socket of [client, kubelet]) socket.on('error', end)
    if (kubeletHead.length > 0) kubelet.unshift(kubeletHead)
    if (waitGroup.stopping) end()
    else pipeThrough(request, client, clientHead, kubelet).catch(end)
  }
}

/** Passes messages of the client and bytes of the kubelet to each other. */
async function pipeThrough(request: Request, socket: Duplex, head: Buffer, kubelet: Duplex): Promise<void> {
  const messages = await acceptWebSocketStream({ request, socket, head, protocol: prefix + forwarding })
  if (!messages || kubelet.destroyed) {
    kubelet.destroy()
    messages?.end()
    return
  }
  messages.on('error', () => socket.destroy())
  messages.pipe(kubelet).pipe(messages)
  kubelet.on('close', () => messages.end())
}
