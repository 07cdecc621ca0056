/** A range from which pods get addresses: a subnet, or a part of it. */
import { addressAt, type Cidr, parseCidr } from '../../lib/cidr.ts'

export interface AddressRange {
  readonly subnet: Cidr
  /** `10.88.0.1`: the address of the bridge; never given to a pod. */
  readonly gateway: string
  readonly first: bigint
  readonly last: bigint
}

/** As in the configuration of the CNI plug-in host-local. */
export interface RangeOptions {
  readonly subnet: string
  readonly rangeStart?: string
  readonly rangeEnd?: string
  readonly gateway?: string
}

/**
 * By default all addresses but the first (the network's), the second (the gateway) and, of IPv4, the last (broadcast).
 * @throws if a text is no address of the subnet, or the subnet has no room for a pod.
 */
export function addressRange({ subnet: text, rangeStart, rangeEnd, gateway }: RangeOptions): AddressRange {
  const subnet = parseCidr(text)
  if (!subnet) throw new Error(`subnet ${JSON.stringify(text)} is not a range such as 10.88.0.0/16`)
  const size = 1n << BigInt((subnet.family === 4 ? 32 : 128) - subnet.prefix)
  if (size < 4n) throw new Error(`subnet ${text} is too small: it has no address for a pod`)
  const within = (name: string, address: string): bigint => {
    const value = addressValue(address, subnet.family)
    if (value === undefined || value < subnet.base || value >= subnet.base + size)
      throw new Error(`${name} ${JSON.stringify(address)} is not an address of the subnet ${text}`)
    return value
  }
  const first = rangeStart === undefined ? subnet.base + 1n : within('rangeStart', rangeStart)
  const end = subnet.base + size - (subnet.family === 4 ? 2n : 1n)
  const last = rangeEnd === undefined ? end : within('rangeEnd', rangeEnd)
  if (last < first) throw new Error(`rangeEnd ${rangeEnd} is before rangeStart ${rangeStart}`)
  if (gateway !== undefined) within('gateway', gateway)
  return { subnet, gateway: gateway ?? addressAt(subnet, 1), first, last }
}

/** The address as a number, if it is one of the family. */
export function addressValue(address: string, family: 4 | 6): bigint | undefined {
  const parsed = parseCidr(`${address}/${family === 4 ? 32 : 128}`)
  return parsed?.family === family ? parsed.base : undefined
}

/** True if the range can give the address to a pod. */
export function isInRange({ subnet, first, last, gateway }: AddressRange, address: string): boolean {
  const value = addressValue(address, subnet.family)
  return value !== undefined && value >= first && value <= last && address !== gateway
}

/** Addresses that the range can give, beginning after `previous`, each once. */
export function* addressesAfter(range: AddressRange, previous: string | undefined): Generator<string> {
  const { subnet, first, last, gateway } = range
  const given = previous === undefined ? undefined : addressValue(previous, subnet.family)
  const start = given === undefined || given < first || given >= last ? first : given + 1n
  const count = last - first + 1n
  for (let step = 0n; step < count; step++) {
    const value = first + ((start - first + step) % count)
    const address = addressAt({ ...subnet, base: value }, 0)
    if (address !== gateway) yield address
  }
}

/** `10.88.0.5/16`. */
export const withPrefix = ({ subnet }: AddressRange, address: string): string => `${address}/${subnet.prefix}`

/** `10.88.0.1-10.88.255.254`. */
export const rangeText = ({ subnet, first, last }: AddressRange): string =>
  [first, last].map((base) => addressAt({ ...subnet, base }, 0)).join('-')
