/**
 * A streamed response as messages of a WebSocket, for browsers, which cannot read a plain stream incrementally.
 * Sub-protocols as upstream (k8s.io/streaming, wsstream): none or `binary.k8s.io` sends bytes, `base64.binary.k8s.io`
 * sends them as text.
 */
import type { Duplex } from 'node:stream'
import type { WebSocket } from 'ws'
import { acceptWebSocket } from '../../../lib/websocket/accept-websocket.ts'
import type { Request, Response, Sink } from '../../http/exchange.ts'
import { isUpgrade } from '../../outgoing/forward/forward.ts'
import { handshakeError, offeredProtocols } from './websocket-handshake.ts'

const base64 = 'base64.binary.k8s.io'
const knownProtocols: readonly string[] = ['binary.k8s.io', base64]
const normalClosure = 1000

/** True if the client requests a WebSocket. */
export const wantsWebSocket = (request: Request): boolean =>
  isUpgrade(request) && request.header('upgrade')?.toLowerCase() === 'websocket'

/** `response` over a WebSocket; 400 or 403 for a malformed handshake or unknown sub-protocols. */
export function webSocketAnswer(request: Request, response: Response): Response {
  const { body } = response
  if (typeof body !== 'function') return response
  const refusal = refusalOf(request)
  if (refusal) {
    body(droppedSink())
    return refusal
  }
  const protocol = offeredProtocols(request).find((one) => knownProtocols.includes(one))
  return {
    status: 101,
    headers: {},
    takeOver(socket, head) {
      acceptWebSocket({ request, socket, head, protocol }).then(
        (client) => body(client ? sinkOf(client, socket, protocol === base64) : droppedSink()),
        () => {
          socket.destroy()
          body(droppedSink())
        },
      )
    },
  }
}

function refusalOf(request: Request): Response | undefined {
  const error = handshakeError(request)
  if (error) return refused(400, error, { 'sec-websocket-version': '13' })
  const protocols = offeredProtocols(request)
  return protocols.length > 0 && !protocols.some((one) => knownProtocols.includes(one)) ? refused(403, '') : undefined
}

const refused = (status: number, message: string, headers: Record<string, string> = {}): Response => ({
  status,
  headers,
  body: Buffer.from(message),
})

/** Writes messages to the client. Messages from the client are ignored; a disconnect ends the response. */
function sinkOf(client: WebSocket, socket: Duplex, asText: boolean): Sink {
  const send = (data: Buffer): void => client.send(asText ? data.toString('base64') : data)
  // The first message is empty, as upstream's: it shows the client that the stream is open.
  send(Buffer.alloc(0))
  client.resume()
  return {
    get backlog() {
      return socket.writableLength
    },
    write: send,
    ready: () => drained(socket),
    end: () => client.close(normalClosure),
    destroy: () => client.terminate(),
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
