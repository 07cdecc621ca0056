/** Tells browsers to come over TLS only (RFC 6797). */
import type { Around } from './filter.ts'

export function strictTransportSecurity(directives: readonly string[]): Around {
  const value = directives.join('; ')
  return async (request, next) => {
    const response = await next(request)
    response.headers['strict-transport-security'] = value
    return response
  }
}
