/** Checks requests for a WebSocket before a kubelet is asked, with the errors of golang.org/x/net/websocket. */
import type { Request } from '../../http/exchange.ts'

const keyBytes = 16

/** The sub-protocols that the client offers, in its order. */
export const offeredProtocols = (request: Request): readonly string[] =>
  request
    .headerValues('sec-websocket-protocol')
    .flatMap((value) => value.split(','))
    .map((protocol) => protocol.trim())
    .filter((protocol) => protocol !== '')

/** Returns the error of a malformed handshake; undefined if it is well-formed. */
export function handshakeError(request: Request): string | undefined {
  const key = request.header('sec-websocket-key') ?? ''
  if (Buffer.from(key, 'base64').length !== keyBytes) return 'missing or bad WebSocket-Key'
  return request.header('sec-websocket-version') === '13' ? undefined : 'missing or bad WebSocket Version'
}
