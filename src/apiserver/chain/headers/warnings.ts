/** Sends what was noted on the way as Warning headers (RFC 7234, code 299; KEP-1693). */
import type { Request, Response } from '../../http/exchange.ts'
import type { Filter } from '../filter.ts'

/** All warnings of a response together stay below this many characters. */
const limit = 4096

/** Quotes a text for a header: quotes and backslashes escaped, control characters dropped, anything not ASCII replaced. */
const quote = (text: string): string =>
  `"${text
    .replace(/\p{Cc}/gu, ' ')
    .replace(/[^ -~]/g, '?')
    .replace(/["\\]/g, '\\$&')}"`

export const warnings = (): Filter => ({
  answered: (request, response) => (request.warnings.length === 0 ? response : warned(request, response)),
})

function warned(request: Request, response: Response): Response {
  const values: string[] = []
  let size = 0
  for (const text of new Set(request.warnings)) {
    size += text.length
    if (size > limit) break
    values.push(`299 - ${quote(text)}`)
  }
  // One header line: clients of HTTP/1.1 and HTTP/2 both split it at the commas between quoted texts.
  response.headers.warning = values.join(', ')
  return response
}
