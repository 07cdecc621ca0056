/** Names of field managers, taken from the `fieldManager` option or the user agent. */
import { isPrintable } from '../../../lib/go/go-quote.ts'
import { type FieldError, invalidValue, tooLong } from '../../../machinery/validation/field-error.ts'

const maxBytes = 128

/**
 * The manager of a request: `fieldManager`, or the user agent up to its first slash (at most 128 bytes); `unknown` if
 * that is empty.
 */
export const managerName = (fieldManager: string | undefined, userAgent: string | undefined): string =>
  fieldManager || fromUserAgent(userAgent ?? '') || 'unknown'

const agents = new Map<string, string>()

function fromUserAgent(userAgent: string): string {
  const known = agents.get(userAgent)
  if (known !== undefined) return known
  const slash = userAgent.indexOf('/')
  let name = ''
  let bytes = 0
  for (const character of slash < 0 ? userAgent : userAgent.slice(0, slash)) {
    if (!isPrintable(character)) continue
    bytes += Buffer.byteLength(character)
    if (bytes > maxBytes) break
    name += character
  }
  if (agents.size >= 1000) agents.clear()
  agents.set(userAgent, name)
  return name
}

/** Validates the option `fieldManager`: at most 128 bytes, printable. */
export function fieldManagerErrors(fieldManager: string, field = 'fieldManager'): FieldError[] {
  const errors = Buffer.byteLength(fieldManager) > maxBytes ? [tooLong(field, maxBytes)] : []
  let position = 0
  for (const character of fieldManager) {
    if (!isPrintable(character)) {
      const code = character.codePointAt(0)!.toString(16).toUpperCase().padStart(4, '0')
      errors.push(invalidValue(field, fieldManager, `invalid character U+${code} (at position ${position})`))
    }
    position += Buffer.byteLength(character)
  }
  return errors
}
