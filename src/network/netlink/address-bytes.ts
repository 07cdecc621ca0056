/** Addresses in messages: 4 or 16 bytes. */
import { isIPv4 } from 'node:net'
import { addressAt, parseCidr } from '../../lib/cidr.ts'

export const families = { ipv4: 2, ipv6: 10 } as const

/** AF_INET or AF_INET6. */
export const familyOf = (address: string): number => (isIPv4(address) ? families.ipv4 : families.ipv6)

/** @throws for a text that is no address. */
export function addressToBytes(address: string): Buffer {
  const bits = isIPv4(address) ? 32 : 128
  const parsed = parseCidr(`${address}/${bits}`)
  if (!parsed) throw new Error(`${address} is not an IP address`)
  return Buffer.from(parsed.base.toString(16).padStart(bits / 4, '0'), 'hex')
}

export function addressFromBytes(bytes: Buffer): string {
  const prefix = bytes.length * 8
  return addressAt({ family: bytes.length === 4 ? 4 : 6, base: BigInt(`0x${bytes.toString('hex')}`), prefix }, 0)
}
