/** A range of cluster IPs: what is in it, and where a free address is looked for (KEP-3070). */
import { addressAt, type Cidr, parseCidr } from '../../../lib/cidr.ts'

/** kube-apiserver's own. */
export const defaultServiceRange = '10.0.0.0/24'

export type Family = 'IPv4' | 'IPv6'

/** Beyond this many addresses a range is not searched: nobody has as many Services. */
const searchedAddresses = 2 ** 32
/** The lower band, from which addresses are given by themselves only when the rest is full. */
const band = { least: 16, most: 256, part: 16 } as const

export class AddressRange {
  readonly family: Family
  /** `10.0.0.0/24`. */
  readonly text: string
  readonly #cidr: Cidr
  /** Offsets of the first and last address that a Service may have. */
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

  /** How many addresses Services may have. */
  get size(): number {
    return Number(this.#last)
  }

  /** The address of the Service `kubernetes`. */
  get firstAddress(): string {
    return addressAt(this.#cidr, this.#first)
  }

  /** Whether a Service may have the address: the range's own and the broadcast address are no Service's. */
  contains(address: string): boolean {
    const cidr = parseCidr(`${address}/${this.family === 'IPv4' ? 32 : 128}`)
    if (cidr?.family !== this.#cidr.family) return false
    const offset = cidr.base - this.#cidr.base
    return offset >= this.#first && offset <= this.#last
  }

  /**
   * An address that is not taken: from a random place in the upper band on, then in the lower one. Undefined if the
   * range is full.
   */
  free(isTaken: (address: string) => boolean, random: () => number): string | undefined {
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

/** The ranges of `--service-cluster-ip-range`: one, or one of each family. Throws an Error if it is none. */
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

/** The one way to write an address. */
export function canonicalAddress(address: string): string {
  if (!address.includes(':')) return address
  const cidr = parseCidr(`${address}/128`)
  return cidr ? addressAt(cidr, 0) : address
}
