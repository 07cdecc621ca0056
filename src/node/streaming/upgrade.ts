/** Requests to switch to another protocol, and the agreement about its version. */
import type { IncomingMessage } from 'node:http'
import type { Duplex } from 'node:stream'
import { acceptWebSocket } from '../../lib/websocket/accept-websocket.ts'
import { HttpError } from '../http-error.ts'
import { ChannelConnection, type ChannelFormat } from './channels/channel-connection.ts'
import { SpdyConnection } from './spdy/spdy-connection.ts'
import type { SpdyStream } from './spdy/spdy-stream.ts'

/** A request, with the connection to take over and the bytes that came after the headers. */
export interface Upgrade {
  readonly request: IncomingMessage
  readonly socket: Duplex
  readonly head: Buffer
}

/** The protocol that the client requests. Throws 400 for any other. */
export function protocolOf({ request: { headers } }: Upgrade): 'spdy' | 'websocket' {
  const protocol = headers.upgrade?.toLowerCase()
  if (protocol === 'websocket') return 'websocket'
  if (protocol?.startsWith('spdy/3.1')) return 'spdy'
  throw unsupported()
}

const unsupported = (): HttpError => new HttpError(400, 'unable to upgrade: unsupported protocol')

/** An SPDY connection with the first version of the client's that we support; '' if it names none. */
export interface AcceptedSpdy {
  readonly version: string
  readonly connection: SpdyConnection
}

/** Throws 403 if client and server share no version. */
export function acceptSpdy(
  { request, socket, head }: Upgrade,
  known: readonly string[],
  onStream: (stream: SpdyStream) => void,
): AcceptedSpdy {
  const offered = valuesOf(request.headers['x-stream-protocol-version'])
  const version = offered.find((one) => known.includes(one)) ?? ''
  if (offered.length > 0 && !version)
    throw new HttpError(
      403,
      `unable to upgrade: unable to negotiate protocol: client supports [${offered.join(' ')}], ` +
        `server accepts [${known.join(' ')}]`,
      { 'X-Accepted-Stream-Protocol-Versions': known.join(', ') },
    )
  socket.write(
    'HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: SPDY/3.1\r\n' +
      `${version && `X-Stream-Protocol-Version: ${version}\r\n`}\r\n`,
  )
  return { version, connection: new SpdyConnection(socket, head, onStream) }
}

/** A WebSocket of several channels, with the sub-protocol that was agreed on; '' if the client names none. */
export interface AcceptedChannels {
  readonly protocol: string
  readonly connection: ChannelConnection
}

/**
 * Resolves with undefined if the client has left or its handshake is invalid, which is answered. Rejects with 400 if
 * client and server share no sub-protocol.
 */
export async function acceptChannels(
  { request, socket, head }: Upgrade,
  known: Readonly<Record<string, ChannelFormat>>,
): Promise<AcceptedChannels | undefined> {
  const { method = '', headers } = request
  const offered = valuesOf(headers['sec-websocket-protocol'])
  const protocol = offered.length === 0 ? '' : offered.find((one) => Object.hasOwn(known, one))
  if (protocol === undefined) throw unsupported()
  const handshake = { method, header: (name: string) => headers[name]?.toString() }
  const webSocket = await acceptWebSocket({ request: handshake, socket, head, protocol })
  return webSocket && { protocol, connection: new ChannelConnection(webSocket, known[protocol]!) }
}

const valuesOf = (header: string | readonly string[] | undefined): string[] =>
  [header ?? []]
    .flat()
    .flatMap((value) => value.split(','))
    .map((value) => value.trim())
    .filter((value) => value !== '')
