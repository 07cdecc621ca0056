/**
 * The listener: TLS with HTTP/1.1 and HTTP/2 on one port, with client certificates on both. It turns both protocols
 * into `Request`s for one handler and can be closed without cutting off requests in progress.
 */

import { once } from 'node:events'
import { performServerHandshake, type ServerHttp2Session } from 'node:http2'
import type { AddressInfo, Socket } from 'node:net'
import { createServer as createTls, type TLSSocket } from 'node:tls'
import { boundsOf } from './bounds/index.ts'
import type { ListenerLimits } from './bounds/limits.ts'
import type { Handler } from './exchange.ts'
import { http1Server } from './http1/server.ts'
import { answerStreams } from './http2/exchange.ts'
import { Http2Session } from './http2/session.ts'
import { type ClientAuthorities, ServingContexts } from './secure/contexts.ts'
import type { ServingPair, TransportOptions } from './secure/transport.ts'

export interface ListenerOptions {
  readonly bindAddress: string
  /** 0 takes any free port. */
  readonly port: number
  readonly tls: ServingPair
  readonly transport?: TransportOptions
  /** Without it no client certificates are requested. */
  readonly clientCA?: ClientAuthorities
  readonly handler: Handler
  /** Overrides of the defaults. */
  readonly limits?: Partial<ListenerLimits>
  /** Called for each connection whose TLS handshake fails. */
  readonly handshakeFailed?: () => void
}

export interface Listener {
  readonly port: number
  /**
   * Accepts no new connections, lets requests finish, and closes the remaining connections after `graceMs`. A second
   * call waits for the first.
   */
  close(graceMs: number): Promise<void>
}

/**
 * Limits of a session. Node's default of 10 MB ends sessions that carry many parallel lists; the reset limits let
 * clients cancel a thousand watches at once, and still bound resets after responses have begun. Node counts streams for
 * a moment after they were reset, and rejects new ones above the limit: it is high, and rejections do not end the
 * session. Frames may be as large as upstream's: with smaller ones, large headers would take too many frames for Node.
 */
const sessionOptions = ({ headerBytes, streams }: ListenerLimits) =>
  ({
    maxSessionMemory: 1000,
    maxSessionRejectedStreams: 10_000,
    streamResetBurst: 10_000,
    streamResetRate: 1_000,
    maxHeaderListPairs: 10_000,
    settings: {
      maxConcurrentStreams: streams,
      initialWindowSize: 1024 * 1024,
      maxFrameSize: 256 * 1024,
      maxHeaderListSize: headerBytes + 10 * 32,
      enablePush: false,
    },
  }) as const

/** Larger than the largest body the server accepts (3 MiB), so that uploads do not wait for window updates. */
const sessionWindow = 8 * 1024 * 1024

/** HTTP/1.1 peers that have vanished are detected by TCP keep-alive, as upstream does. */
const tcpKeepAliveMs = 180_000

const maxSweepMs = 5_000

/** Starts to listen. Rejects with Node's errors (`EADDRINUSE`, `EACCES`, bad certificates). */
export async function listen({
  bindAddress,
  port,
  tls,
  transport = {},
  clientCA,
  handler,
  ...options
}: ListenerOptions): Promise<Listener> {
  const bounds = boundsOf(options.limits)
  const { limits, unread } = bounds
  const sessions = new Set<Http2Session>()
  const sockets = new Set<Socket>()
  const http1 = http1Server(handler, bounds)
  const http2 = sessionOptions(limits)
  const contexts = new ServingContexts(tls, transport, clientCA)

  const secure = createTls(
    {
      ...contexts.options,
      handshakeTimeout: limits.headerTimeoutMs,
      noDelay: true,
      keepAlive: true,
      keepAliveInitialDelay: tcpKeepAliveMs,
    },
    (socket: TLSSocket) => {
      if (socket.alpnProtocol !== 'h2') {
        http1.emit('connection', socket)
        return
      }
      const session = performServerHandshake(socket, http2) as ServerHttp2Session
      const known = new Http2Session(session, socket, bounds)
      sessions.add(known)
      session.once('connect', () => session.setLocalWindowSize(sessionWindow))
      session.on('close', () => sessions.delete(known))
      session.on('error', () => session.destroy())
      session.on('stream', answerStreams(handler, known, bounds))
    },
  )
  secure.on('connection', (socket: Socket) => {
    sockets.add(socket)
    socket.on('close', () => sockets.delete(socket))
  })
  secure.prependListener('connection', () => contexts.refresh(secure))
  secure.on('tlsClientError', (_error, socket) => {
    options.handshakeFailed?.()
    socket.destroy()
  })

  secure.listen(port, bindAddress)
  await once(secure, 'listening')

  const sweepMs = Math.min(
    maxSweepMs,
    Math.min(limits.headerTimeoutMs, limits.idleTimeoutMs, limits.pingAfterMs, limits.pingTimeoutMs) / 4,
  )
  const sweeping = setInterval(() => {
    const now = performance.now()
    for (const session of sessions) session.sweep(now)
    unread.sweep(now)
  }, sweepMs)
  sweeping.unref()

  async function close(graceMs: number): Promise<void> {
    const closed = once(secure, 'close')
    secure.close()
    http1.close()
    http1.closeIdleConnections()
    for (const session of sessions) session.close()
    const cut = setTimeout(() => {
      for (const session of sessions) session.destroy()
      for (const socket of sockets) socket.destroy()
    }, graceMs)
    const idle = setInterval(() => http1.closeIdleConnections(), 20)
    await closed
    clearTimeout(cut)
    clearInterval(idle)
    clearInterval(sweeping)
  }

  let closing: Promise<void> | undefined
  return {
    port: (secure.address() as AddressInfo).port,
    close: (graceMs) => (closing ??= close(graceMs)),
  }
}
