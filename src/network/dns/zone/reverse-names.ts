/** Names of addresses: `7.0.244.10.in-addr.arpa`, and 32 digits before `ip6.arpa`. */
import { addressAt, parseCidr } from '../../../lib/cidr.ts'

/** The address of a name in lower case, as Kubernetes writes it. Undefined for other names, and parts of addresses. */
export function addressOfReverseName(labels: readonly string[]): string | undefined {
  const [zone, arpa] = labels.slice(-2)
  if (arpa !== 'arpa') return undefined
  const parts = labels.slice(0, -2).reverse()
  if (zone === 'in-addr' && parts.length === 4 && parts.every((part) => /^\d{1,3}$/.test(part) && Number(part) < 256))
    return parts.map(Number).join('.')
  if (zone !== 'ip6' || parts.length !== 32 || !parts.every((part) => /^[0-9a-f]$/.test(part))) return undefined
  const groups = Array.from({ length: 8 }, (_, i) => parts.slice(4 * i, 4 * i + 4).join(''))
  const range = parseCidr(`${groups.join(':')}/128`)
  return range && addressAt(range, 0)
}
