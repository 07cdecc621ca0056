/** Ranges of addresses as prefixes, which is all that a rule of iptables can compare with. */
import { addressAt } from '../../../lib/cidr.ts'
import { type AddressBlock, intervalsOfBlocks } from '../../netlink/nftables/address-intervals.ts'

/** The fewest prefixes that cover the blocks of a family without their exceptions: `10.0.0.0/9`. */
export function prefixesOf(family: 4 | 6, blocks: readonly AddressBlock[]): string[] {
  const bits = family === 4 ? 32 : 128
  const numberOf = (bytes: Buffer): bigint => BigInt(`0x${bytes.toString('hex')}`)
  return intervalsOfBlocks(family, blocks).flatMap(({ first, end }) => {
    const found: string[] = []
    const limit = end ? numberOf(end) : 1n << BigInt(bits)
    let at = numberOf(first)
    while (at < limit) {
      let free = 0
      // The largest prefix that begins here and does not go beyond the end.
      while (free < bits && (at >> BigInt(free)) % 2n === 0n && at + (1n << BigInt(free + 1)) <= limit) free++
      const prefix = bits - free
      found.push(`${addressAt({ family, base: at, prefix }, 0)}/${prefix}`)
      at += 1n << BigInt(free)
    }
    return found
  })
}
