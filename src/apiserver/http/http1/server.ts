/**
 * The HTTP/1.1 side of the listener: Node's server without a port of its own, with upstream's time-outs and error
 * responses.
 */
import { createServer, type IncomingMessage, type Server } from 'node:http'
import type { Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import type { Bounds } from '../bounds/index.ts'
import type { Handler } from '../exchange.ts'
import { answerMessages, answerUpgrades } from './exchange.ts'

/** The bytes by which headers may exceed the limit before Go's server rejects them. */
const headerSlopBytes = 4096

const maxCheckMs = 5_000

/**
 * Returns true for upgrades other than to HTTP/2, which such clients do not need. A request with a body is not
 * upgraded.
 */
const wantsUpgrade = ({ headers }: IncomingMessage): boolean =>
  headers.upgrade !== undefined &&
  headers.upgrade.toLowerCase() !== 'h2c' &&
  !Number(headers['content-length']) &&
  !headers['transfer-encoding']

/** A server that takes connections from `connection` events. */
export function http1Server(handler: Handler, bounds: Bounds): Server {
  const { headerTimeoutMs, idleTimeoutMs, headerBytes, lingerMs } = bounds.limits
  const server = createServer({
    maxHeaderSize: headerBytes + headerSlopBytes,
    headersTimeout: headerTimeoutMs,
    keepAliveTimeout: idleTimeoutMs,
    // Bodies have the request's time limit: the chain answers when it is exceeded.
    requestTimeout: 0,
    connectionsCheckingInterval: Math.min(maxCheckMs, headerTimeoutMs / 4),
    shouldUpgradeCallback: wantsUpgrade,
  })
  // Node drops headers above its limit silently.
  server.maxHeadersCount = 0
  server.on('request', answerMessages(handler, bounds))
  server.on('checkContinue', answerMessages(handler, bounds, true))
  // The server does not listen, it gets its connections from outside: without this event Node would neither time out
  // headers nor track idle connections.
  server.emit('listening')
  server.on('clientError', (error: NodeJS.ErrnoException, socket) => rejectRequest(error.code, socket, lingerMs))
  server.on('upgrade', answerUpgrades(handler, bounds))
  server.on('connection', readThroughStream)
  return server
}

/**
 * Node's parser reads from the connection directly unless a `data` listener was added. It is paused while an earlier
 * response is not written yet; TLS then passes on all records that it holds, and the second one is an error
 * (`HPE_PAUSED`). A stream waits.
 */
function readThroughStream(socket: Socket): void {
  const listens = (): void => {}
  socket.on('data', listens).off('data', listens)
}

/** Sockets that have been answered: Node continues to parse, and fails again, while the rest is read. */
const rejected = new WeakSet<Duplex>()

/** Answers an invalid request as Go's server does, and gives the client `lingerMs` to read that. */
function rejectRequest(code: string | undefined, socket: Duplex, lingerMs: number): void {
  if (rejected.has(socket)) return
  rejected.add(socket)
  // A client that does not complete its headers gets no response.
  if (!socket.writable || code === 'ERR_HTTP_REQUEST_TIMEOUT') {
    socket.destroy()
    return
  }
  const status = code === 'HPE_HEADER_OVERFLOW' ? '431 Request Header Fields Too Large' : '400 Bad Request'
  socket.end(`HTTP/1.1 ${status}\r\nContent-Type: text/plain; charset=utf-8\r\nConnection: close\r\n\r\n${status}`)
  const deadline = setTimeout(() => socket.destroy(), lingerMs)
  deadline.unref()
  socket.on('close', () => clearTimeout(deadline))
  socket.resume()
}
