/** Warnings for valid addresses and ranges that are not in canonical form (RFC 5952, KEP-4858). */
import { isIPv6 } from 'node:net'
import { addressAt, type Cidr, parseCidr } from '../../lib/cidr.ts'

const canonicalIPv6 = (address: string): string => new URL(`http://[${address}]`).hostname.slice(1, -1)

/** Warns of an IPv6 address that is not in canonical form. The text must be a valid address. */
export function addressWarnings(address: string | undefined, path: string): string[] {
  if (!address || !isIPv6(address)) return []
  const canonical = canonicalIPv6(address)
  return canonical === address
    ? []
    : [
        `${path}: IPv6 address ${JSON.stringify(address)} should be in RFC 5952 canonical format ` +
          `(${JSON.stringify(canonical)})`,
      ]
}

const rangeText = (range: Cidr): string => `${addressAt(range, 0)}/${range.prefix}`

/** Warns of a range that has bits after its prefix or is not in canonical form. The text must be a valid range. */
export function cidrWarnings(text: string, path: string): string[] {
  const range = parseCidr(text)
  if (!range) return []
  const address = text.slice(0, text.indexOf('/'))
  const bits = range.family === 4 ? 32 : 128
  const single = parseCidr(`${address}/${bits}`)
  const shown = JSON.stringify(text)
  if (single && single.base !== range.base)
    return [
      `${path}: CIDR value ${shown} is ambiguous in this context (should be ${JSON.stringify(rangeText(range))} ` +
        `or ${JSON.stringify(rangeText(single))}?)`,
    ]
  return range.family === 6 && rangeText(range) !== text
    ? [`${path}: IPv6 CIDR value ${shown} should be in RFC 5952 canonical format (${JSON.stringify(rangeText(range))})`]
    : []
}
