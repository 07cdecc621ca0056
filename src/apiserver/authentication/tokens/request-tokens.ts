/**
 * Bearer tokens of requests: in the Authorization header (RFC 6750), or in a WebSocket sub-protocol, since browsers
 * cannot set headers of WebSockets.
 */

import { isUtf8 } from 'node:buffer'
import { after } from '../../../lib/flow/after.ts'
import { annotateEarly } from '../../audit/early-annotations.ts'
import type { Request } from '../../http/exchange.ts'
import { tokenProtocol } from '../../http/websocket-token.ts'
import type { Authenticator, Verdict } from '../authenticator.ts'
import type { TokenAuthentication } from './token-authentication.ts'

const spaceWarning = 'the provided Authorization header contains extra space before the bearer token, and is ignored'

const usualStart = 'Bearer '

/**
 * Returns the token of an Authorization header: one space after `Bearer`, in any case. Other schemes have no token.
 */
export function bearerToken(header: string | undefined, warn?: (text: string) => void): string | undefined {
  const trimmed = header?.trim() ?? ''
  // The form that nearly all clients send.
  if (trimmed.startsWith(usualStart) && !trimmed.includes(' ', usualStart.length))
    return trimmed.slice(usualStart.length)
  const [scheme, token, ...rest] = trimmed.split(' ', 3)
  if (token === undefined || scheme!.toLowerCase() !== 'bearer') return undefined
  if (token === '' && rest.length > 0) warn?.(spaceWarning)
  return token || undefined
}

/** An invalid token is 401; without a token, other credentials are tried. */
export const bearerTokens =
  (tokens: TokenAuthentication): Authenticator =>
  (request) => {
    const header = request.header('authorization')
    if (header === undefined) return undefined
    const token = bearerToken(header, (text) => request.warnings.push(text))
    return token === undefined ? undefined : userOf(token, tokens, request)
  }

function userOf(token: string, tokens: TokenAuthentication, request: Request): Verdict | Promise<Verdict> {
  return after(tokens.authenticate(token), (known): Verdict => {
    if (known.annotations) annotateEarly(request, known.annotations)
    if ('refused' in known) return 'invalid'
    if (known.warnings) request.warnings.push(...known.warnings)
    return known.user
  })
}

/**
 * The client must request another sub-protocol too, which the server can select: the one with the token is removed.
 */
export const webSocketTokens =
  (tokens: TokenAuthentication): Authenticator =>
  (request) => {
    if (request.header('upgrade')?.toLowerCase() !== 'websocket' || !asksForUpgrade(request.header('connection')))
      return undefined
    const protocols = (request.header('sec-websocket-protocol') ?? '').split(',').map((protocol) => protocol.trim())
    const carriers = protocols.filter((protocol) => protocol.startsWith(tokenProtocol))
    if (carriers.length === 0) return undefined
    const token = decoded(carriers[0]!.slice(tokenProtocol.length))
    if (carriers.length > 1 || token === undefined) return 'invalid'
    if (token === '') return undefined
    return carriers.length === protocols.length ? 'invalid' : userOf(token, tokens, request)
  }

const asksForUpgrade = (connection = ''): boolean =>
  connection.split(',').some((option) => option.trim().toLowerCase() === 'upgrade')

/** Returns undefined for anything but base64url of UTF-8. */
function decoded(text: string): string | undefined {
  if (!/^[\w-]*$/.test(text) || text.length % 4 === 1) return undefined
  const bytes = Buffer.from(text, 'base64url')
  return isUtf8(bytes) ? bytes.toString() : undefined
}
