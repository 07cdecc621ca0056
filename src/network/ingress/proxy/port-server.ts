/** A port of the proxy: HTTP/1.1 and HTTP/2, with TLS or without. */
import { createServer as createHttp1, type Server as Http1Server } from 'node:http'
import { createServer as createHttp2, type Http2Server, type ServerHttp2Session } from 'node:http2'
import { type AddressInfo, createServer as createPlain, type Server, type Socket } from 'node:net'
import { createServer as createTls, type TLSSocket, type Server as TlsServer } from 'node:tls'
import type { RouteTable } from '../picture/route-table.ts'
import type { Certificates } from './certificates.ts'
import type { ProxyLimits } from './limits.ts'
import type { ServedPort } from './messages/routed-request.ts'
import type { ReverseProxy } from './reverse-proxy.ts'

export interface PortServerOptions {
  readonly proxy: ReverseProxy
  readonly limits: ProxyLimits
  /** The certificates of a port with TLS. */
  readonly certificates?: Certificates
  /** The routes at the time of a request. */
  readonly table: () => RouteTable
}

/** The first bytes of HTTP/2 without TLS (RFC 9113, 3.4), which no request of HTTP/1.1 begins with. */
const preface = Buffer.from('PRI')

export class PortServer {
  readonly #options: PortServerOptions
  readonly #http1: Http1Server
  readonly #http2: Http2Server
  readonly #server: Server | TlsServer
  readonly #sockets = new Set<Socket>()
  readonly #sessions = new Set<ServerHttp2Session>()
  #isClosing = false
  #port = 0

  constructor(options: PortServerOptions) {
    this.#options = options
    this.#http1 = this.#createHttp1()
    this.#http2 = this.#createHttp2()
    this.#server = options.certificates ? this.#createTls(options.certificates) : this.#createPlain()
    this.#server.on('connection', (socket: Socket) => {
      this.#sockets.add(socket)
      socket.on('error', () => socket.destroy())
      socket.once('close', () => this.#sockets.delete(socket))
    })
  }

  /** Starts to listen; resolves with the port. Rejects with Node's errors. */
  listen(address: string, port: number): Promise<number> {
    const { promise, resolve, reject } = Promise.withResolvers<number>()
    this.#server.once('error', reject)
    this.#server.listen(port, address, () => {
      this.#server.removeListener('error', reject)
      // Its time limits start with it, although its connections come from the other server.
      this.#http1.emit('listening')
      this.#port = (this.#server.address() as AddressInfo).port
      resolve(this.#port)
    })
    return promise
  }

  /** Accepts no more connections, lets requests finish, and closes the remaining connections after `graceMs`. */
  async close(graceMs: number): Promise<void> {
    this.#isClosing = true
    const { promise: closed, resolve } = Promise.withResolvers<void>()
    this.#server.close(() => resolve())
    this.#http1.close(() => {})
    for (const session of this.#sessions) session.close()
    const timer = setTimeout(() => this.#sockets.forEach((socket) => void socket.destroy()), graceMs)
    await closed
    clearTimeout(timer)
  }

  get #served(): ServedPort {
    const { certificates, table } = this.#options
    return { scheme: certificates ? 'https' : 'http', port: this.#port, table: table() }
  }

  #createHttp1(): Http1Server {
    const { limits, proxy } = this.#options
    const server = createHttp1(
      {
        maxHeaderSize: limits.headBytes,
        headersTimeout: limits.headMs,
        connectionsCheckingInterval: Math.min(limits.headMs, 30_000),
        // Uploads may take long; `timeout` ends those that stand still.
        requestTimeout: 0,
        keepAliveTimeout: Math.min(limits.idleMs, 75_000),
        noDelay: true,
        // The upgrade to HTTP/2 without TLS is obsolete, and would hide requests from the proxy.
        shouldUpgradeCallback: ({ headers }) => !/(^|,)\s*h2c?\s*(,|$)/i.test(headers.upgrade ?? ''),
      },
      (request, response) => {
        // Node closes connections that are idle when the server closes, but not those that become idle later.
        response.once('finish', () => this.#isClosing && request.socket.end())
        void proxy.handle(request, response, this.#served)
      },
    )
    server.timeout = limits.idleMs
    server.on('upgrade', (request, socket, head) => void proxy.upgrade(request, socket, head, this.#served))
    return server
  }

  #createHttp2(): Http2Server {
    const { limits, proxy } = this.#options
    const server = createHttp2(
      {
        settings: {
          maxConcurrentStreams: limits.streams,
          maxHeaderListSize: limits.headBytes,
          initialWindowSize: 1024 * 1024,
          enablePush: false,
        },
        maxSessionMemory: 100,
      },
      (request, response) => void proxy.handle(request, response, this.#served),
    )
    server.on('session', (session) => {
      this.#sessions.add(session)
      session.once('close', () => this.#sessions.delete(session))
      session.on('error', () => session.destroy())
      session.setTimeout(limits.idleMs, () => session.close())
    })
    server.on('sessionError', () => {})
    return server
  }

  #createTls(certificates: Certificates): TlsServer {
    const server = createTls(
      {
        ALPNProtocols: ['h2', 'http/1.1'],
        minVersion: 'TLSv1.2',
        handshakeTimeout: this.#options.limits.headMs,
        noDelay: true,
        SNICallback: (name, done) => done(null, certificates.contextFor(name)),
        ...certificates.defaultPair,
        allowHalfOpen: true,
      },
      (socket: TLSSocket) => {
        socket.on('error', () => socket.destroy())
        if (socket.alpnProtocol === 'h2') this.#http2.emit('connection', socket)
        else this.#http1.emit('connection', socket)
      },
    )
    server.on('tlsClientError', (_error, socket) => socket.destroy())
    certificates.onDefaultChange((pair) => server.setSecureContext(pair))
    return server
  }

  #createPlain(): Server {
    const { headMs } = this.#options.limits
    return createPlain({ noDelay: true, allowHalfOpen: true }, (socket) => {
      const timer = setTimeout(() => socket.destroy(), headMs)
      socket.once('close', () => clearTimeout(timer))
      const read = (): void => {
        const begin = socket.read() as Buffer | null
        if (!begin) {
          // Ended without a request.
          if (socket.readableEnded) socket.destroy()
          else socket.once('readable', read)
          return
        }
        clearTimeout(timer)
        socket.unshift(begin)
        const isHttp2 = begin.subarray(0, preface.length).equals(preface)
        if (isHttp2) this.#http2.emit('connection', socket)
        else this.#http1.emit('connection', socket)
      }
      socket.once('readable', read)
    })
  }
}
