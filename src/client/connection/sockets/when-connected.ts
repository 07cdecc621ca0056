/** Waits for a socket to connect, with a deadline. */
import type { Socket } from 'node:net'

/** TCP keep-alive detects dead peers of idle connections. In ms. */
const keepAliveMs = 30_000

/** Resolves after `event`. Rejects with Node's error, after `timeoutMs`, or when `signal` is aborted. */
export function whenConnected<Kind extends Socket>(
  socket: Kind,
  event: 'connect' | 'secureConnect',
  timeoutMs: number,
  signal: AbortSignal,
): Promise<Kind> {
  const { promise, resolve, reject } = Promise.withResolvers<Kind>()
  const end = (): void => void socket.destroy(new Error('the client is closed'))
  const timeout = setTimeout(() => socket.destroy(new Error(`no connection within ${timeoutMs / 1000} s`)), timeoutMs)
  signal.addEventListener('abort', end, { once: true })
  if (signal.aborted) end()
  const settle = (): void => {
    clearTimeout(timeout)
    signal.removeEventListener('abort', end)
  }
  socket.once(event, () => {
    settle()
    socket.setKeepAlive(true, keepAliveMs)
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
