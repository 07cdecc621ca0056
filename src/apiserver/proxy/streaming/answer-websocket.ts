/**
 * A streamed response as messages of a WebSocket, for browsers, which cannot read a plain stream incrementally.
 * Sub-protocols as upstream (k8s.io/streaming, wsstream): none or `binary.k8s.io` sends bytes, `base64.binary.k8s.io`
 * sends them as text.
 */
import type { Duplex } from 'node:stream'
import { acceptOf, WebSocketConnection } from '../../../lib/websocket-connection.ts'
import type { Request, Response, Sink } from '../../http/exchange.ts'
import { isUpgrade } from '../../outgoing/forward/forward.ts'

const base64 = 'base64.binary.k8s.io'
const knownProtocols: readonly string[] = ['binary.k8s.io', base64]
const keyBytes = 16

/** True if the client requests a WebSocket. */
export const wantsWebSocket = (request: Request): boolean =>
  isUpgrade(request) && request.header('upgrade')?.toLowerCase() === 'websocket'

/** `response` over a WebSocket; 400 or 403 for a malformed handshake or unknown sub-protocols. */
export function webSocketAnswer(request: Request, response: Response): Response {
  const { body } = response
  if (typeof body !== 'function') return response
  const key = request.header('sec-websocket-key') ?? ''
  const refusal = refusalOf(request, key)
  if (refusal) {
    body(droppedSink())
    return refusal
  }
  const protocol = offered(request).find((one) => knownProtocols.includes(one))
  return {
    status: 101,
    headers: {},
    takeOver(client, head) {
      client.write(headOf(key, protocol))
      body(sinkOf(client, head, protocol === base64))
    },
  }
}

/** Errors as golang.org/x/net/websocket returns them. */
function refusalOf(request: Request, key: string): Response | undefined {
  if (Buffer.from(key, 'base64').length !== keyBytes) return refused(400, 'missing or bad WebSocket-Key')
  if (request.header('sec-websocket-version') !== '13')
    return refused(400, 'missing or bad WebSocket Version', { 'sec-websocket-version': '13' })
  const protocols = offered(request)
  return protocols.length > 0 && !protocols.some((one) => knownProtocols.includes(one)) ? refused(403, '') : undefined
}

const refused = (status: number, message: string, headers: Record<string, string> = {}): Response => ({
  status,
  headers,
  body: Buffer.from(message),
})

const offered = (request: Request): readonly string[] =>
  request
    .headerValues('sec-websocket-protocol')
    .flatMap((value) => value.split(','))
    .map((protocol) => protocol.trim())
    .filter((protocol) => protocol !== '')

/** Writes messages to the client. Messages from the client are ignored; a disconnect ends the response. */
function sinkOf(client: Duplex, head: Buffer, asText: boolean): Sink {
  const connection = new WebSocketConnection(client, head, () => {})
  // The first message is empty, as upstream's: it shows the client that the stream is open.
  if (asText) connection.sendText('')
  else connection.send(Buffer.alloc(0))
  return {
    get backlog() {
      return client.writableLength
    },
    write: (chunk) => (asText ? connection.sendText(chunk.toString('base64')) : connection.send(chunk)),
    ready: () => drained(client),
    end: () => connection.close(),
    destroy: () => client.destroy(),
    onClose: (callback) => client.on('close', callback),
  }
}

function drained(client: Duplex): Promise<void> {
  if (client.destroyed || !client.writableNeedDrain) return Promise.resolve()
  const { promise, resolve } = Promise.withResolvers<void>()
  client.once('drain', resolve).once('close', resolve)
  return promise.then(() => {
    client.off('drain', resolve).off('close', resolve)
  })
}

/** For a response that is not wanted: closes its source immediately. */
const droppedSink = (): Sink => ({
  backlog: 0,
  write: () => {},
  ready: () => Promise.resolve(),
  end: () => {},
  destroy: () => {},
  onClose: (callback) => callback(),
})

const headOf = (key: string, protocol: string | undefined): string =>
  [
    'HTTP/1.1 101 Switching Protocols',
    'Upgrade: websocket',
    'Connection: Upgrade',
    `Sec-WebSocket-Accept: ${acceptOf(key)}`,
    ...(protocol ? [`Sec-WebSocket-Protocol: ${protocol}`] : []),
    '\r\n',
  ].join('\r\n')
