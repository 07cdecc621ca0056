/**
 * The listener: TLS with HTTP/1.1 and HTTP/2 on one port, client certificates asked for and read on both.
 * It turns both protocols into `Request`s for one handler and can be closed without cutting off requests under way.
 */

import { once } from 'node:events'
import { createServer as createHttp1, type IncomingMessage, type ServerResponse } from 'node:http'
import { performServerHandshake, type ServerHttp2Session } from 'node:http2'
import type { AddressInfo, Socket } from 'node:net'
import { createServer as createTls, type TLSSocket } from 'node:tls'
import { failed, type Handler } from './exchange.ts'
import { Http1Request, respondHttp1 } from './http1-exchange.ts'
import { answerStreams } from './http2-exchange.ts'

export interface ListenerOptions {
  readonly bindAddress: string
  /** 0 takes any free port. */
  readonly port: number
  readonly tls: { readonly cert: string | Buffer; readonly key: string | Buffer }
  /** CAs that client certificates are checked against; without it they are not asked for. */
  readonly clientCA?: string | Buffer
  readonly handler: Handler
  /** For exec, attach and port-forward over HTTP/1.1 upgrades. */
  readonly upgrade?: (request: IncomingMessage, socket: Socket, head: Buffer) => void
}

export interface Listener {
  readonly port: number
  /** Takes no new connections, lets requests finish, and cuts off what is left after `graceMs`. */
  close(graceMs: number): Promise<void>
}

/**
 * Limits of a session. Node's default of 10 MB ends sessions that carry many parallel lists; the reset limits let
 * clients cancel a thousand watches at once, and still bound rapid-reset attacks (CVE-2023-44487). Node counts streams
 * for a moment after they were reset, and refuses new ones above the limit: it is high, and refusals end no session.
 */
const sessionLimits = {
  maxSessionMemory: 1000,
  maxSessionRejectedStreams: 10_000,
  streamResetBurst: 10_000,
  streamResetRate: 1_000,
  settings: { maxConcurrentStreams: 3000, initialWindowSize: 1024 * 1024, enablePush: false },
} as const

/** Above the largest body the server takes (3 MiB), so that uploads do not wait for window updates. */
const sessionWindow = 8 * 1024 * 1024

/** Starts to listen. Rejects with Node's errors (`EADDRINUSE`, `EACCES`, bad certificates). */
export async function listen({ bindAddress, port, tls, clientCA, handler, upgrade }: ListenerOptions): Promise<Listener> {
  const sessions = new Set<ServerHttp2Session>()
  const sockets = new Set<Socket>()

  const http1 = createHttp1({ keepAliveTimeout: 120_000, requestTimeout: 0 }, (message: IncomingMessage, response: ServerResponse) => {
    handler(new Http1Request(message, response)).then(
      (answer) => respondHttp1(response, answer),
      (error) => respondHttp1(response, failed(error)),
    )
  })
  // Connections are handed over, nobody listens: without this event Node would neither time out headers nor know idle connections.
  http1.emit('listening')
  http1.on('clientError', (_error, socket) => {
    if (socket.writable) socket.end('HTTP/1.1 400 Bad Request\r\nConnection: close\r\n\r\n')
    else socket.destroy()
  })
  if (upgrade) http1.on('upgrade', (request, socket, head) => upgrade(request, socket as Socket, head))

  const onStream = answerStreams(handler)

  const secure = createTls(
    {
      cert: tls.cert,
      key: tls.key,
      ALPNProtocols: ['h2', 'http/1.1'],
      minVersion: 'TLSv1.2',
      ...(clientCA && { ca: clientCA, requestCert: true, rejectUnauthorized: false }),
    },
    (socket: TLSSocket) => {
      socket.setNoDelay(true)
      if (socket.alpnProtocol !== 'h2') {
        http1.emit('connection', socket)
        return
      }
      const session = performServerHandshake(socket, sessionLimits) as ServerHttp2Session
      sessions.add(session)
      session.once('connect', () => session.setLocalWindowSize(sessionWindow))
      session.on('close', () => sessions.delete(session))
      session.on('error', () => session.destroy())
      session.on('stream', onStream)
    },
  )
  secure.on('connection', (socket: Socket) => {
    sockets.add(socket)
    socket.on('close', () => sockets.delete(socket))
  })
  secure.on('tlsClientError', (_error, socket) => socket.destroy())

  secure.listen(port, bindAddress)
  await once(secure, 'listening')

  return {
    port: (secure.address() as AddressInfo).port,
    async close(graceMs) {
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
    },
  }
}
