/** Rules for addresses that traffic may be sent to. */
import { type FieldError, invalidValue } from '../../machinery/field-error.ts'
import { text, valid } from '../../machinery/field-rules.ts'
import { ipAddress } from '../../machinery/names.ts'

const special: readonly (readonly [RegExp, (ip: string) => string])[] = [
  [/^(0\.0\.0\.0|::)$/, (ip) => `may not be unspecified (${ip})`],
  [/^(127\.|::1$)/, () => 'may not be in the loopback range (127.0.0.0/8, ::1/128)'],
  [/^(169\.254\.|fe[89ab][0-9a-f]:)/i, () => 'may not be in the link-local range (169.254.0.0/16, fe80::/10)'],
  [/^(224\.0\.0\.|ff02:)/i, () => 'may not be in the link-local multicast range (224.0.0.0/24, ff02::/10)'],
]

/** An IP address that is none of the special ones: nobody may catch traffic of nodes to themselves. */
export function ordinaryAddress(ip: string, path: string): FieldError[] {
  const errors = text(ip ?? '', path, ipAddress)
  if (errors.length > 0) return errors
  const found = special.find(([range]) => range.test(ip))
  return found ? [invalidValue(path, ip, found[1](ip))] : valid
}
