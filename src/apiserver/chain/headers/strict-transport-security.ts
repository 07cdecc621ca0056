/** Asks browsers to use TLS only (RFC 6797). */
import type { Filter } from '../filter.ts'

export function strictTransportSecurity(directives: readonly string[]): Filter {
  const value = directives.join('; ')
  return {
    answered(_request, response) {
      response.headers['strict-transport-security'] = value
      return response
    },
  }
}
