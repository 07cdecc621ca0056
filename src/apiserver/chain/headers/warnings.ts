/** Sends the recorded warnings as Warning headers (RFC 7234, code 299; KEP-1693). */
import type { Request, Response } from '../../http/exchange.ts'
import type { Filter } from '../filter.ts'

/** In characters: if all warnings together are longer than `all`, each is truncated, and no more are sent than fit. */
export interface WarningBounds {
  readonly all: number
  readonly each: number
}

const defaultBounds: WarningBounds = { all: 4096, each: 256 }

export const warnings = (): Filter => ({
  answered: (request, response) => (request.warnings.length === 0 ? response : warned(request, response)),
})

function warned(request: Request, response: Response): Response {
  const values = warningValues(request.warnings)
  // One header line: clients of HTTP/1.1 and HTTP/2 both split it at the commas between quoted texts.
  if (values.length > 0) response.headers.warning = values.join(', ')
  return response
}

/**
 * The values of the headers, each text once, as bytes: text other than ASCII is UTF-8. Texts with control characters
 * are not sent.
 */
export function warningValues(given: readonly string[], { all, each }: WarningBounds = defaultBounds): string[] {
  const texts = [...new Set(given)].filter((text) => text !== '' && !/\p{Cc}/u.test(text)).map((text) => [...text])
  let size = 0
  const tooMany = texts.findIndex(({ length }) => (size += length) > all)
  if (tooMany < 0) return texts.map(headerValue)
  const sent: string[][] = []
  let written = 0
  for (const [i, text] of texts.entries()) {
    if (i > tooMany && written >= all) break
    const cut = text.slice(0, each)
    written += cut.length
    sent.push(cut)
  }
  return sent.map(headerValue)
}

const headerValue = (text: readonly string[]): string => {
  const quoted = text.join('').replace(/["\\]/g, '\\$&')
  return `299 - "${Buffer.from(quoted).toString('latin1')}"`
}
