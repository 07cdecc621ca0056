/** Allocates pod addresses from a node's range: the lowest one that was not used recently. */
import { addressAt, type Cidr, parseCidr } from '../../lib/cidr.ts'

/** The first address is the network, the second the node's bridge. */
const reserved = 2
/** The number of addresses used of larger ranges. */
const maxSize = 65_536

export class PodAddresses {
  readonly #range: Cidr
  readonly #size: number
  readonly #owners = new Map<string, string>()
  #next = reserved

  constructor(range: Cidr) {
    this.#range = range
    // The last address is the broadcast address.
    this.#size = Math.min(2 ** ((range.family === 4 ? 32 : 128) - range.prefix) - 1, maxSize)
  }

  /** Allocates an address for a pod, by its uid; undefined if all are in use. */
  take(uid: string): string | undefined {
    for (let tried = reserved; tried < this.#size; tried++) {
      const address = addressAt(this.#range, this.#next)
      this.#next = this.#next + 1 < this.#size ? this.#next + 1 : reserved
      if (this.#owners.has(address)) continue
      this.#owners.set(address, uid)
      return address
    }
    return undefined
  }

  /** Marks the address of a pod as used. */
  markUsed(address: string, uid: string): void {
    this.#owners.set(address, uid)
  }

  release(address: string, uid: string): void {
    if (this.#owners.get(address) === uid) this.#owners.delete(address)
  }
}

/** Parses the ranges of a node. Skips invalid ones. */
export const rangesOf = (podCIDRs: readonly string[] | undefined): Cidr[] =>
  (podCIDRs ?? []).flatMap((text) => {
    const range = parseCidr(text)
    return range ? [range] : []
  })

const ownBase = 0x0ac0_0000n
const ownPrefix = 24

/** A range for a node without podCIDRs: the `index`-th /24 from 10.192.0.0 on. */
export const ownRange = (index: number): Cidr => ({
  family: 4,
  base: ownBase + (BigInt(index) << BigInt(32 - ownPrefix)),
  prefix: ownPrefix,
})
