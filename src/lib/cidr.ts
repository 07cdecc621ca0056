/** Address ranges such as `10.96.0.0/16`, for example in `--service-cluster-ip-range`. */
import { isIP } from 'node:net'

export interface Cidr {
  readonly family: 4 | 6
  /** The first address of the range as a number. */
  readonly base: bigint
  readonly prefix: number
}

/** Parses a CIDR range; clears bits after the prefix. Returns undefined for an invalid range. */
export function parseCidr(text: string): Cidr | undefined {
  const match = /^([0-9a-fA-F:.]+)\/(\d{1,3})$/.exec(text)
  const [, address = '', bits = ''] = match ?? []
  const family = isIP(address)
  const prefix = Number(bits)
  const size = family === 4 ? 32 : 128
  if ((family !== 4 && family !== 6) || prefix > size) return undefined
  const rest = BigInt(size - prefix)
  return { family, base: ((family === 4 ? ipv4Number(address) : ipv6Number(address)) >> rest) << rest, prefix }
}

/** True if the address of a valid range has bits set after the prefix: `10.0.0.1/24`. */
export function hasHostBits(text: string): boolean {
  const range = parseCidr(text)
  const address = parseCidr(`${text.slice(0, text.indexOf('/'))}/${range?.family === 6 ? 128 : 32}`)
  return address?.base !== range?.base
}

/** True if the range has the address. False for an invalid range or address, and for another family. */
export function rangeHas(range: string, address: string): boolean {
  const cidr = parseCidr(range)
  const other = cidr && parseCidr(`${address}/${cidr.prefix}`)
  return cidr !== undefined && other?.family === cidr.family && other.base === cidr.base
}

/** The address at `offset` in the range. The Service `kubernetes` has the offset 1. */
export function addressAt({ family, base }: Cidr, offset: number): string {
  const value = base + BigInt(offset)
  if (family === 4) return [24n, 16n, 8n, 0n].map((shift) => (value >> shift) & 255n).join('.')
  const groups = Array.from({ length: 8 }, (_, i) => ((value >> BigInt(112 - 16 * i)) & 0xffffn).toString(16))
  return new URL(`http://[${groups.join(':')}]`).hostname.slice(1, -1)
}

const ipv4Number = (address: string): bigint => address.split('.').reduce((sum, part) => (sum << 8n) | BigInt(part), 0n)

function ipv6Number(address: string): bigint {
  // URL returns the canonical form, also for addresses that end in dotted IPv4.
  const canonical = new URL(`http://[${address}]`).hostname.slice(1, -1)
  const [head = '', tail] = canonical.split('::')
  const before = head ? head.split(':') : []
  const after = tail ? tail.split(':') : []
  const groups =
    tail === undefined ? before : [...before, ...Array(8 - before.length - after.length).fill('0'), ...after]
  return groups.reduce((sum, group) => (sum << 16n) | BigInt(`0x${group}`), 0n)
}
