/**
 * Headers that state an identity, which only the server may set: they are not forwarded to backends. Some backends take
 * `_` for `-` (CGI, RFC 3875, 4.1.18).
 */
import type { Request } from '../../http/exchange.ts'

type IsIdentityHeader = (name: string) => boolean

const usual: IsIdentityHeader = (name) => /^(x[-_]remote|impersonate)[-_]/.test(name)

const configured = new WeakMap<Request, IsIdentityHeader>()

/** Marks headers of a request in which a front proxy sends the identity of a user, if they have unusual names. */
export function hideIdentityHeaders(request: Request, isIdentityHeader: IsIdentityHeader): void {
  configured.set(request, isIdentityHeader)
}

/** Returns the test for headers of a request, by their names in lower case. */
export function identityHeadersOf(request: Request): IsIdentityHeader {
  const also = configured.get(request)
  return also ? (name) => usual(name) || also(name) : usual
}
