/** Every request has an audit id: the client's, or one made here. Its answer tells it. */
import { randomBytes } from 'node:crypto'
import type { Filter } from '../filter.ts'

/** What may be told back: an id of other characters is not taken. */
const printable = /^[\x21-\x7e](?:[\x20-\x7e]*[\x21-\x7e])?$/

/** Six digits: larger numbers than small integers would become text slowly. */
const sixDigits = 2 ** 24

const digits = (part: number): string => part.toString(16).padStart(6, '0')

/**
 * UUIDs (RFC 9562, version 4 in form) that are cheap: what is random is chosen once, the last twelve digits count on.
 */
function uuids(): () => string {
  const bytes = randomBytes(16)
  bytes[6] = (bytes[6]! & 0x0f) | 0x40
  bytes[8] = (bytes[8]! & 0x3f) | 0x80
  const before = `${bytes.toString('hex', 0, 4)}-${bytes.toString('hex', 4, 6)}-${bytes.toString('hex', 6, 8)}-${bytes.toString('hex', 8, 10)}-`
  let high = bytes.readUIntBE(10, 3)
  let low = bytes.readUIntBE(13, 3)
  const head = (): string => before + digits(high)
  let same = head()
  return () => {
    if (++low === sixDigits) {
      low = 0
      high = (high + 1) % sixDigits
      same = head()
    }
    return same + digits(low)
  }
}

export function auditId(): Filter {
  const made = uuids()
  return {
    begin(request) {
      const given = request.header('audit-id')
      request.auditId = given && printable.test(given) ? given : made()
    },
    answered(request, response) {
      response.headers['audit-id'] = request.auditId
      return response
    },
  }
}
