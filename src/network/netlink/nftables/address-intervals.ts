/** Ranges of addresses, without others, as intervals of a set: sorted, without overlaps. */
import { parseCidr } from '../../../lib/cidr.ts'
import type { AddressInterval } from './matches.ts'

/** A range of addresses without others. */
export interface AddressBlock {
  readonly range: string
  readonly except: readonly string[]
}

/** The intervals of ranges, as `intervalsOfBlocks`. */
export const intervalsOf = (family: 4 | 6, ranges: readonly string[]): AddressInterval[] =>
  intervalsOfBlocks(
    family,
    ranges.map((range) => ({ range, except: [] })),
  )

interface Range {
  readonly first: bigint
  /** After the last address. */
  readonly end: bigint
}

/** The intervals of a family. Blocks of other families, and texts that are no range, are left out. */
export function intervalsOfBlocks(family: 4 | 6, blocks: readonly AddressBlock[]): AddressInterval[] {
  const bits = family === 4 ? 32 : 128
  const rangeOf = (text: string): Range[] => {
    const range = parseCidr(text)
    if (range?.family !== family) return []
    return [{ first: range.base, end: range.base + (1n << BigInt(bits - range.prefix)) }]
  }
  const ranges = blocks.flatMap(({ range, except }) => without(rangeOf(range), except.flatMap(rangeOf)))
  const limit = 1n << BigInt(bits)
  const bytes = (value: bigint): Buffer => Buffer.from(value.toString(16).padStart(bits / 4, '0'), 'hex')
  return merged(ranges).map(({ first, end }) => ({ first: bytes(first), end: end === limit ? undefined : bytes(end) }))
}

function without(ranges: readonly Range[], excepted: readonly Range[]): readonly Range[] {
  return excepted.reduce<readonly Range[]>(
    (left, hole) =>
      left.flatMap(({ first, end }) => {
        if (hole.end <= first || hole.first >= end) return [{ first, end }]
        const before = { first, end: hole.first }
        const after = { first: hole.end, end }
        return [before, after].filter((part) => part.first < part.end)
      }),
    ranges,
  )
}

function merged(ranges: readonly Range[]): readonly Range[] {
  const sorted = [...ranges].sort((a, b) => (a.first < b.first ? -1 : a.first > b.first ? 1 : 0))
  const found: Range[] = []
  for (const range of sorted) {
    const last = found.at(-1)
    if (!last || range.first > last.end) found.push(range)
    else if (range.end > last.end) found[found.length - 1] = { first: last.first, end: range.end }
  }
  return found
}
