/** A TLS connection that negotiates HTTP/2 or HTTP/1.1 (ALPN, RFC 7301). */
import { type ConnectionOptions, connect, type TLSSocket } from 'node:tls'
import { whenConnected } from './when-connected.ts'

/** Resolves after the server's certificate was verified. Rejects with Node's error, after `timeoutMs`, or on abort. */
export const secureSocket = (options: ConnectionOptions, timeoutMs: number, signal: AbortSignal): Promise<TLSSocket> =>
  whenConnected(connect({ ...options, ALPNProtocols: ['h2', 'http/1.1'] }), 'secureConnect', timeoutMs, signal)
