/** Forwards connections to ports through a streaming server, over one SPDY connection. */
import type { Duplex } from 'node:stream'
import { text } from 'node:stream/consumers'
import { finished } from 'node:stream/promises'
import type { ForwardPort } from '../port-forward/serve-port-forward.ts'
import type { SpdyConnection } from '../spdy/spdy-connection.ts'

/** Each forwarded connection rejects with the error that the server reports. */
export function forwardThrough(server: SpdyConnection): ForwardPort {
  let requestId = 0
  return async (port: number, connection: Duplex) => {
    const headers = { port: String(port), requestid: String(requestId++) }
    const error = server.open({ ...headers, streamtype: 'error' })
    error.end()
    const data = server.open({ ...headers, streamtype: 'data' })
    connection.pipe(data)
    data.pipe(connection, { end: false })
    const [message] = await Promise.all([text(error), finished(data, { writable: false }).catch(() => {})])
    data.destroy()
    if (message) throw new Error(message)
  }
}
