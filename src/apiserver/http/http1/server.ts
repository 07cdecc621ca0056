/**
 * The HTTP/1.1 side of the listener: Node's server without a port of its own, with upstream's time-outs and refusals.
 */
import { createServer, type IncomingMessage, type Server } from 'node:http'
import type { Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import type { Bounds } from '../bounds/index.ts'
import type { Handler } from '../exchange.ts'
import { answerMessages, answerUpgrades } from './exchange.ts'

/** Go's server reads so much more than its limit before it refuses. */
const headerSlopBytes = 4096

const longestCheckMs = 5_000

/** Who offers HTTP/2 is content with what it speaks, and a request with a body is none for another protocol. */
const wantsUpgrade = ({ headers }: IncomingMessage): boolean =>
  headers.upgrade !== undefined &&
  headers.upgrade.toLowerCase() !== 'h2c' &&
  !Number(headers['content-length']) &&
  !headers['transfer-encoding']

/** A server that waits for `connection` events. */
export function http1Server(handler: Handler, bounds: Bounds): Server {
  const { headerTimeoutMs, idleTimeoutMs, headerBytes, lingerMs } = bounds.limits
  const server = createServer({
    maxHeaderSize: headerBytes + headerSlopBytes,
    headersTimeout: headerTimeoutMs,
    keepAliveTimeout: idleTimeoutMs,
    // Bodies have the request's time: the chain answers when it is over.
    requestTimeout: 0,
    connectionsCheckingInterval: Math.min(longestCheckMs, headerTimeoutMs / 4),
    shouldUpgradeCallback: wantsUpgrade,
  })
  // Node drops what is above its limit without a word.
  server.maxHeadersCount = 0
  server.on('request', answerMessages(handler, bounds))
  server.on('checkContinue', answerMessages(handler, bounds, true))
  // Connections are handed over, nobody listens: without this event Node would neither time out headers nor know idle
  // connections.
  server.emit('listening')
  server.on('clientError', (error: NodeJS.ErrnoException, socket) => refuse(error.code, socket, lingerMs))
  server.on('upgrade', answerUpgrades(handler, bounds))
  server.on('connection', readThroughStream)
  return server
}

/**
 * Node's parser takes bytes from the connection itself unless somebody listens for them. It is paused while an earlier
 * answer is not written yet, TLS hands on all the records that it holds, and the second is an error then
 * (`HPE_PAUSED`): a stream waits.
 */
function readThroughStream(socket: Socket): void {
  const listens = (): void => {}
  socket.on('data', listens).off('data', listens)
}

/** Those that have been told: Node parses on, and fails again, while the rest is read. */
const refused = new WeakSet<Duplex>()

/** What Go's server says to what is no request, and how long the client has to read it. */
function refuse(code: string | undefined, socket: Duplex, lingerMs: number): void {
  if (refused.has(socket)) return
  refused.add(socket)
  // Who does not finish its headers is told nothing.
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
