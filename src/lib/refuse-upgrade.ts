/** Answers that switch protocols although the request did not ask for it. */
import type { ClientRequest } from 'node:http'

/**
 * Makes a request fail with an `error` event when its answer is `101 Switching Protocols`. Without this, Node closes
 * the connection and emits nothing but `close`: whoever waits for `response` or `error` waits for ever.
 * @example const sent = refuseUpgrade(request('https://127.0.0.1:6443/version'))
 */
export function refuseUpgrade(sent: ClientRequest): ClientRequest {
  return sent.on('upgrade', ({ headers }, socket) => {
    socket.destroy()
    sent.emit(
      'error',
      new Error(`the answer switches to protocol ${JSON.stringify(headers.upgrade ?? '')}, which was not asked for`),
    )
  })
}
