/** A range of cluster IPs, and the search for a free address (KEP-3070). */
import { addressAt, type Cidr, parseCidr } from '../../../lib/cidr.ts'

/** The default of kube-apiserver. */
export const defaultServiceRange = '10.0.0.0/24'

export type Family = 'IPv4' | 'IPv6'

/** Addresses beyond this number are not searched: no cluster has so many Services. */
const searchedAddresses = 2 ** 32
/** Size of the lower band, which is used for dynamic allocation only when the rest is full. */
const band = { least: 16, most: 256, part: 16 } as const

export class AddressRange {
  readonly family: Family
  /** `10.0.0.0/24`. */
  readonly text: string
  readonly #cidr: Cidr
  /** Offsets of the first and last allocatable address. */
  readonly #first = 1
  readonly #last: bigint

  constructor(cidr: Cidr) {
    this.#cidr = cidr
    this.family = cidr.family === 4 ? 'IPv4' : 'IPv6'
    this.text = `${addressAt(cidr, 0)}/${cidr.prefix}`
    const size = 1n << BigInt((cidr.family === 4 ? 32 : 128) - cidr.prefix)
    // Only IPv4 has a broadcast address.
    this.#last = size - (cidr.family === 4 ? 2n : 1n)
  }

  /** The number of allocatable addresses. */
  get size(): number {
    return Number(this.#last)
  }

  /** The address of the Service `kubernetes`. */
  get firstAddress(): string {
    return addressAt(this.#cidr, this.#first)
  }

  /** True if a Service may have the address: the network and the broadcast address are excluded. */
  contains(address: string): boolean {
    const cidr = parseCidr(`${address}/${this.family === 'IPv4' ? 32 : 128}`)
    if (cidr?.family !== this.#cidr.family) return false
    const offset = cidr.base - this.#cidr.base
    return offset >= this.#first && offset <= this.#last
  }

  /**
   * Finds a free address, from a random position in the upper band, then in the lower one. Undefined if the range is
   * full.
   */
  findFree(isTaken: (address: string) => boolean, random: () => number): string | undefined {
    const last = Math.min(Number(this.#last), searchedAddresses)
    const size = last + 1
    const lower = size <= band.least ? 0 : Math.min(Math.max(band.least, Math.floor(size / band.part)), band.most)
    return (
      this.#search(this.#first + lower, last, isTaken, random) ??
      this.#search(this.#first, Math.min(lower, last), isTaken, random)
    )
  }

  #search(from: number, to: number, isTaken: (address: string) => boolean, random: () => number): string | undefined {
    const count = to - from + 1
    if (count <= 0) return undefined
    const start = Math.floor(random() * count)
    for (let i = 0; i < count; i++) {
      const address = addressAt(this.#cidr, from + ((start + i) % count))
      if (!isTaken(address)) return address
    }
    return undefined
  }
}

/** Parses `--service-cluster-ip-range`: one range, or one of each family. Throws an Error if it is invalid. */
export function parseAddressRanges(text: string): readonly AddressRange[] {
  const ranges = text.split(',').map((part) => {
    const cidr = parseCidr(part.trim())
    if (!cidr) throw new Error(`${part} is no address range for Services: write it like 10.0.0.0/24`)
    return new AddressRange(cidr)
  })
  if (ranges.length > 2 || (ranges.length === 2 && ranges[0]!.family === ranges[1]!.family)) {
    throw new Error(
      `${text} has more than one address range for Services of a family: give one of IPv4 and one of IPv6`,
    )
  }
  return ranges
}

/** The canonical form of an address. */
export function canonicalAddress(address: string): string {
  if (!address.includes(':')) return address
  const cidr = parseCidr(`${address}/128`)
  return cidr ? addressAt(cidr, 0) : address
}
