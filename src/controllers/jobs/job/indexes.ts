/** Sets of completion indexes in the format of a Job's status: sorted intervals such as `0-3,5,8,9`. */

/** Includes both ends. */
interface Interval {
  readonly first: number
  readonly last: number
}

/** Sorted, with gaps between them. */
export type Indexes = readonly Interval[]

export const noIndexes: Indexes = []

/** Parses a set; ignores invalid numbers and indexes not below `completions`. */
export function parseIndexes(text: string | undefined, completions: number): Indexes {
  const found: Interval[] = []
  for (const part of text?.split(',') ?? []) {
    const [, low, high = low] = /^(\d+)(?:-(\d+))?$/.exec(part) ?? []
    if (low !== undefined && Number(low) < completions)
      found.push({ first: Number(low), last: Math.min(Number(high), completions - 1) })
  }
  return union(found, noIndexes)
}

/** Formats a set; an interval of two is written as two indexes. */
export function indexesText(indexes: Indexes): string {
  return indexes
    .map(({ first, last }) => (first === last ? `${first}` : `${first}${last === first + 1 ? ',' : '-'}${last}`))
    .join(',')
}

export const countOf = (indexes: Indexes): number =>
  indexes.reduce((count, { first, last }) => count + last - first + 1, 0)

export function hasIndex(indexes: Indexes, index: number): boolean {
  let low = 0
  let high = indexes.length
  while (low < high) {
    const middle = (low + high) >> 1
    if ((indexes[middle] as Interval).last < index) low = middle + 1
    else high = middle
  }
  const found = indexes[low]
  return found !== undefined && found.first <= index
}

export const withIndexes = (indexes: Indexes, more: Iterable<number>): Indexes =>
  union(
    indexes,
    [...more].map((index) => ({ first: index, last: index })),
  )

export function union(some: Indexes, others: Indexes): Indexes {
  const joined: Interval[] = []
  for (const next of [...some, ...others].sort((a, b) => a.first - b.first)) {
    const before = joined.at(-1)
    if (!before || next.first > before.last + 1) joined.push(next)
    else if (before.last < next.last) joined[joined.length - 1] = { first: before.first, last: next.last }
  }
  return joined
}

/** Returns the size of the intersection. */
export function countInBoth(some: Indexes, others: Indexes): number {
  let count = 0
  for (let i = 0, j = 0; i < some.length && j < others.length; ) {
    const [one, other] = [some[i] as Interval, others[j] as Interval]
    count += Math.max(0, Math.min(one.last, other.last) - Math.max(one.first, other.first) + 1)
    if (one.last <= other.last) i++
    if (other.last <= one.last) j++
  }
  return count
}

/** Returns the lowest `count` indexes below `completions` that are not in the set. */
export function firstMissing(indexes: Indexes, count: number, completions: number): number[] {
  const missing: number[] = []
  let candidate = 0
  for (const { first, last } of [...indexes, { first: completions, last: completions }]) {
    for (; candidate < Math.min(first, completions) && missing.length < count; candidate++) missing.push(candidate)
    candidate = Math.max(candidate, last + 1)
  }
  return missing
}
