/** Address ranges as intervals of a set: sorted, without overlaps. */
import { parseCidr } from '../../../lib/cidr.ts'
import type { AddressInterval } from './matches.ts'

/** Ranges of other families, and texts that are no range, are left out. */
export function intervalsOf(family: 4 | 6, ranges: readonly string[]): AddressInterval[] {
  const bits = family === 4 ? 32 : 128
  const found = ranges
    .map((range) => parseCidr(range))
    .filter((range) => range?.family === family)
    .map((range) => ({ first: range!.base, end: range!.base + (1n << BigInt(bits - range!.prefix)) }))
    .sort((a, b) => (a.first < b.first ? -1 : a.first > b.first ? 1 : 0))
  const merged: { first: bigint; end: bigint }[] = []
  for (const { first, end } of found) {
    const last = merged.at(-1)
    if (last && end <= last.end) continue
    if (last && first <= last.end) last.end = end
    else merged.push({ first, end })
  }
  const limit = 1n << BigInt(bits)
  const bytes = (value: bigint): Buffer => Buffer.from(value.toString(16).padStart(bits / 4, '0'), 'hex')
  return merged.map(({ first, end }) => ({ first: bytes(first), end: end === limit ? undefined : bytes(end) }))
}
