/** A TLS connection to a server, which says which HTTP it speaks (ALPN, RFC 7301). */
import { type ConnectionOptions, connect, type TLSSocket } from 'node:tls'
import { connected } from './connected.ts'

/**
 * Resolves when the server is known to be who it should be. Rejects with Node's error, or after `timeoutMs`; when
 * `signal` is aborted too.
 */
export const secureSocket = (options: ConnectionOptions, timeoutMs: number, signal: AbortSignal): Promise<TLSSocket> =>
  connected(connect({ ...options, ALPNProtocols: ['h2', 'http/1.1'] }), 'secureConnect', timeoutMs, signal)
