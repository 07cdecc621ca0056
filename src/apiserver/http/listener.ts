/**
 * The listener: TLS with HTTP/1.1 and HTTP/2 on one port, with client certificates on both. It turns both protocols
 * into `Request`s for one handler and can be closed without cutting off requests in progress.
 */

import { once } from 'node:events'
import type { Server as HttpServer } from 'node:http'
import { performServerHandshake, type ServerHttp2Session } from 'node:http2'
import type { AddressInfo, Socket } from 'node:net'
import { createServer as createTls, type TLSSocket, type Server as TlsServer } from 'node:tls'
import { type Bounds, boundsOf } from './bounds/index.ts'
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
export async function listen(options: ListenerOptions): Promise<Listener> {
  const listener = new TlsListener(options)
  await listener.open(options.port, options.bindAddress)
  return listener
}

class TlsListener implements Listener {
  readonly #handler: Handler
  readonly #bounds: Bounds
  readonly #sessionOptions: ReturnType<typeof sessionOptions>
  readonly #sessions = new Set<Http2Session>()
  readonly #sockets = new Set<Socket>()
  readonly #http1: HttpServer
  readonly #secure: TlsServer
  #port = 0
  #sweeping: NodeJS.Timeout | undefined
  #closing: Promise<void> | undefined

  constructor({ tls, transport = {}, clientCA, handler, limits, handshakeFailed }: ListenerOptions) {
    this.#handler = handler
    this.#bounds = boundsOf(limits)
    this.#sessionOptions = sessionOptions(this.#bounds.limits)
    this.#http1 = http1Server(handler, this.#bounds)
    const contexts = new ServingContexts(tls, transport, clientCA)
    this.#secure = createTls(
      {
        ...contexts.options,
        handshakeTimeout: this.#bounds.limits.headerTimeoutMs,
        noDelay: true,
        keepAlive: true,
        keepAliveInitialDelay: tcpKeepAliveMs,
      },
      (socket) => this.#serve(socket),
    )
    this.#secure.on('connection', (socket: Socket) => {
      this.#sockets.add(socket)
      socket.on('close', () => this.#sockets.delete(socket))
    })
    this.#secure.prependListener('connection', () => contexts.refresh(this.#secure))
    this.#secure.on('tlsClientError', (_error, socket) => {
      handshakeFailed?.()
      socket.destroy()
    })
  }

  get port(): number {
    return this.#port
  }

  async open(port: number, bindAddress: string): Promise<void> {
    this.#secure.listen(port, bindAddress)
    await once(this.#secure, 'listening')
    this.#port = (this.#secure.address() as AddressInfo).port
    const { headerTimeoutMs, idleTimeoutMs, pingAfterMs, pingTimeoutMs } = this.#bounds.limits
    const sweepMs = Math.min(maxSweepMs, Math.min(headerTimeoutMs, idleTimeoutMs, pingAfterMs, pingTimeoutMs) / 4)
    this.#sweeping = setInterval(() => this.#sweep(), sweepMs)
    this.#sweeping.unref()
  }

  close(graceMs: number): Promise<void> {
    return (this.#closing ??= this.#close(graceMs))
  }

  #serve(socket: TLSSocket): void {
    if (socket.alpnProtocol === 'h2') this.#serveHttp2(socket)
    else this.#http1.emit('connection', socket)
  }

  #serveHttp2(socket: TLSSocket): void {
    const session = performServerHandshake(socket, this.#sessionOptions) as ServerHttp2Session
    const peer = new Http2Session(session, socket, this.#bounds)
    this.#sessions.add(peer)
    session.once('connect', () => session.setLocalWindowSize(sessionWindow))
    session.on('close', () => this.#sessions.delete(peer))
    session.on('error', () => session.destroy())
    session.on('stream', answerStreams(this.#handler, peer, this.#bounds))
  }

  #sweep(): void {
    const now = performance.now()
    for (const session of this.#sessions) session.sweep(now)
    this.#bounds.unread.sweep(now)
  }

  async #close(graceMs: number): Promise<void> {
    const closed = once(this.#secure, 'close')
    this.#secure.close()
    this.#http1.close()
    this.#http1.closeIdleConnections()
    for (const session of this.#sessions) session.close()
    const graceEnd = setTimeout(() => this.#destroyConnections(), graceMs)
    const closeIdle = setInterval(() => this.#http1.closeIdleConnections(), 20)
    await closed
    clearTimeout(graceEnd)
    clearInterval(closeIdle)
    clearInterval(this.#sweeping)
  }

  #destroyConnections(): void {
    for (const session of this.#sessions) session.destroy()
    for (const socket of this.#sockets) socket.destroy()
  }
}
