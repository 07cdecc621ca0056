/** The server side of WebSockets (RFC 6455), by the package `ws`, which is loaded for the first client. */
import { IncomingMessage } from 'node:http'
import { Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import type { WebSocket } from 'ws'

/** The maximum size of a message, in bytes. */
const maxPayload = 1024 * 1024

export interface HandshakeRequest {
  readonly method: string
  header(name: string): string | undefined
}

/** A request for a WebSocket, with the connection to take over and the bytes that came after the headers. */
export interface WebSocketRequest {
  readonly request: HandshakeRequest
  readonly socket: Duplex
  readonly head: Buffer
  /** The agreed sub-protocol. */
  readonly protocol?: string
}

/**
 * Resolves with the open WebSocket, which is paused until its listeners are there: call `resume()`. Resolves with
 * undefined if the handshake is invalid, which is answered with 400, or if the client has left. `error` events need no
 * listener: they are followed by `close`.
 */
export async function acceptWebSocket({
  request,
  socket,
  head,
  protocol,
}: WebSocketRequest): Promise<WebSocket | undefined> {
  const { WebSocketServer } = await import('ws')
  const server = new WebSocketServer({ noServer: true, clientTracking: false, perMessageDeflate: false, maxPayload })
  // `ws` rejects Kubernetes' names of protocols that contain a slash, so it does not see them.
  if (protocol) server.on('headers', (headers) => headers.push(`Sec-WebSocket-Protocol: ${protocol}`))
  const { promise, resolve } = Promise.withResolvers<WebSocket | undefined>()
  const leave = (): void => resolve(undefined)
  socket.on('close', leave)
  if (socket.destroyed) leave()
  server.on('wsClientError', ({ message }) => {
    answerBadHandshake(socket, message)
    leave()
  })
  server.handleUpgrade(handshakeOf(request), socket, head, (webSocket) => {
    webSocket.on('error', () => {})
    webSocket.pause()
    resolve(webSocket)
  })
  const opened = await promise
  socket.off('close', leave)
  return opened
}

/** Resolves with the data of all messages as one stream of bytes; each write is a message. Undefined as above. */
export async function acceptWebSocketStream(request: WebSocketRequest): Promise<Duplex | undefined> {
  const webSocket = await acceptWebSocket(request)
  return webSocket && (await import('ws')).createWebSocketStream(webSocket)
}

/** The request in the form that `ws` takes. */
function handshakeOf(request: HandshakeRequest): IncomingMessage {
  const message = new IncomingMessage(new Socket())
  message.method = request.method
  for (const name of ['upgrade', 'sec-websocket-key', 'sec-websocket-version'])
    message.headers[name] = request.header(name)
  return message
}

function answerBadHandshake(socket: Duplex, message: string): void {
  socket.end(
    'HTTP/1.1 400 Bad Request\r\nContent-Type: text/plain; charset=utf-8\r\nSec-WebSocket-Version: 13\r\n' +
      `Content-Length: ${Buffer.byteLength(message)}\r\nConnection: close\r\n\r\n${message}`,
  )
}
