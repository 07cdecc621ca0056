/** A listener without a socket: in-memory HTTP/2 connections for clients in the same process. */
import { performServerHandshake, type ServerHttp2Session } from 'node:http2'
import { type Duplex, duplexPair } from 'node:stream'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { boundsOf } from './bounds/index.ts'
import type { Handler } from './exchange.ts'
import { answerStreams, type Http2Peer } from './http2/exchange.ts'
import type { Listener } from './listener.ts'

export interface MemoryListener extends Listener {
  /** The client's end of a new connection. */
  dial(): Duplex
}

/** Clients in the same process are trusted not to send too many requests. */
const sessionOptions = {
  maxSessionMemory: 1000,
  settings: { initialWindowSize: 1024 * 1024, maxConcurrentStreams: 10_000, enablePush: false },
}

export function listenInMemory(handler: Handler): MemoryListener {
  const sessions = new Set<ServerHttp2Session>()
  const bounds = boundsOf()
  return {
    port: 0,
    dial() {
      const [near, far] = duplexPair()
      // The types allow TLS connections only.
      const session = performServerHandshake(far, sessionOptions) as ServerHttp2Session
      const peer: Http2Peer = {
        clientCertificate: undefined,
        remoteAddress: '127.0.0.1',
        begin: (request) => request.start(),
        end() {},
        close: () => session.close(),
      }
      sessions.add(session)
      session.on('stream', answerStreams(handler, peer, bounds))
      session.on('error', () => session.destroy())
      session.on('close', () => sessions.delete(session))
      return near
    },
    async close() {
      // The caller may run in one of these sessions: a session that is destroyed while it reads sends for ever (Node
      // 24).
      await nextTurn()
      for (const session of sessions) session.destroy()
    },
  }
}
