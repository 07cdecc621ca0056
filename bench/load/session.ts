/** Opens an HTTP/2 connection with the flow-control windows of Go's client. */
import { type ClientHttp2Session, connect } from 'node:http2'

export function openSession(url: string): ClientHttp2Session {
  const session = connect(url, {
    rejectUnauthorized: false,
    settings: { initialWindowSize: 4 * 1024 * 1024, enablePush: false },
    maxSessionMemory: 1000,
  })
  session.on('connect', () => session.setLocalWindowSize(1024 * 1024 * 1024))
  return session
}
