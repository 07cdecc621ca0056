/** Rejects responses that switch protocols without a request. */
import type { ClientRequest } from 'node:http'

/**
 * Makes a request fail with an `error` event if the response is `101 Switching Protocols`. Without it, Node closes the
 * connection and only emits `close`, so that code that waits for `response` or `error` never ends.
 * @example const sent = refuseUpgrade(request('https://127.0.0.1:6443/version'))
 */
export function refuseUpgrade(sent: ClientRequest): ClientRequest {
  return sent.on('upgrade', ({ headers }, socket) => {
    socket.destroy()
    sent.emit(
      'error',
      new Error(`the server switched to the protocol ${JSON.stringify(headers.upgrade ?? '')} without a request`),
    )
  })
}
