/** Gives every request an audit ID: the client's, or a generated one. The response returns it. */
import { randomBytes } from 'node:crypto'
import type { Filter } from '../filter.ts'

/** The audit IDs that are accepted from clients. */
const printable = /^[\x21-\x7e](?:[\x20-\x7e]*[\x21-\x7e])?$/

/** Six hex digits: larger numbers exceed small integers and are slow to convert to text. */
const sixDigits = 2 ** 24

const digits = (part: number): string => part.toString(16).padStart(6, '0')

/**
 * Generates UUIDs (in the form of RFC 9562, version 4) cheaply: the random part is chosen once, the last twelve digits
 * count.
 */
function uuids(): () => string {
  const bytes = randomBytes(16)
  bytes[6] = (bytes[6]! & 0x0f) | 0x40
  bytes[8] = (bytes[8]! & 0x3f) | 0x80
  const hex = (start: number, end: number): string => bytes.toString('hex', start, end)
  const before = `${hex(0, 4)}-${hex(4, 6)}-${hex(6, 8)}-${hex(8, 10)}-`
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
  const newId = uuids()
  return {
    begin(request) {
      const given = request.header('audit-id')
      request.auditId = given && printable.test(given) ? given : newId()
    },
    answered(request, response) {
      response.headers['audit-id'] = request.auditId
      return response
    },
  }
}
