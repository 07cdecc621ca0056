/** A TLS connection to a server, which says which HTTP it speaks (ALPN, RFC 7301). */
import { type ConnectionOptions, connect, type TLSSocket } from 'node:tls'

/** Resolves when the server is known to be who it should be. Rejects with Node's error, or after `timeoutMs`; when `signal` is aborted too. */
export function secureSocket(options: ConnectionOptions, timeoutMs: number, signal: AbortSignal): Promise<TLSSocket> {
  const { promise, resolve, reject } = Promise.withResolvers<TLSSocket>()
  const socket = connect({ ...options, ALPNProtocols: ['h2', 'http/1.1'] })
  const end = (): void => void socket.destroy(new Error('the client is closed'))
  const late = setTimeout(() => socket.destroy(new Error(`no connection within ${timeoutMs / 1000} s`)), timeoutMs)
  signal.addEventListener('abort', end, { once: true })
  if (signal.aborted) end()
  const settle = (): void => {
    clearTimeout(late)
    signal.removeEventListener('abort', end)
  }
  socket.once('secureConnect', () => {
    settle()
    resolve(socket)
  })
  socket.on('error', (error) => {
    settle()
    reject(error)
  })
  socket.once('close', () => {
    settle()
    reject(new Error('the connection was closed'))
  })
  return promise
}
