/** The addresses of a node's pods: of the range that the node has, the lowest that was not used last. */
import { addressAt, type Cidr, parseCidr } from '../../lib/cidr.ts'

/** The first address of a range is the range itself, the second the node's bridge. */
const reserved = 2
/** Of larger ranges only so many addresses are used. */
const most = 65_536

export class PodAddresses {
  readonly #range: Cidr
  readonly #size: number
  readonly #owners = new Map<string, string>()
  #next = reserved

  constructor(range: Cidr) {
    this.#range = range
    // The last address is everybody's (broadcast).
    this.#size = Math.min(2 ** ((range.family === 4 ? 32 : 128) - range.prefix) - 1, most)
  }

  /** An address for a pod, by its uid; undefined when all are taken. */
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

  /** A pod has this address already. */
  note(address: string, uid: string): void {
    this.#owners.set(address, uid)
  }

  giveBack(address: string, uid: string): void {
    if (this.#owners.get(address) === uid) this.#owners.delete(address)
  }
}

/** The ranges of a node: those that it was given. Empty for what is none. */
export const rangesOf = (podCIDRs: readonly string[] | undefined): Cidr[] =>
  (podCIDRs ?? []).flatMap((text) => {
    const range = parseCidr(text)
    return range ? [range] : []
  })

const ownBase = 0x0ac0_0000n
const ownPrefix = 24

/** A range for a node that nobody gives one: the `index`-th /24 from 10.192.0.0 on. */
export const ownRange = (index: number): Cidr => ({
  family: 4,
  base: ownBase + (BigInt(index) << BigInt(32 - ownPrefix)),
  prefix: ownPrefix,
})
