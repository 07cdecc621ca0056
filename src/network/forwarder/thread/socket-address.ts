/** Addresses of sockets as the kernel has them: `struct sockaddr_in` and `struct sockaddr_in6`. */
import { addressFromBytes, addressToBytes, families, familyOf } from '../../netlink/address-bytes.ts'
import type { Target } from '../listener.ts'

/** Bytes of the longest address. */
export const longestAddress = 28

const ipv4 = { at: 4, end: 8, size: 16 } as const
const ipv6 = { at: 8, end: 24, size: 28 } as const

/** @throws for a text that is no address. */
export function encodeAddress({ address, port }: Target): Buffer {
  const family = familyOf(address)
  const { at, size } = family === families.ipv4 ? ipv4 : ipv6
  const bytes = Buffer.alloc(size)
  bytes.writeUInt16LE(family, 0)
  bytes.writeUInt16BE(port, 2)
  addressToBytes(address).copy(bytes, at)
  return bytes
}

/** The IP address without the port. */
export function decodeAddress(bytes: Buffer): string {
  const { at, end } = bytes.readUInt16LE(0) === families.ipv4 ? ipv4 : ipv6
  return addressFromBytes(bytes.subarray(at, end))
}
