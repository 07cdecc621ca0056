/** Indexes of pods as Jobs write them: `0,3-5,7`, in order, each below the number of completions. */

export type Intervals = readonly (readonly [first: number, last: number])[]

/** The intervals, or what is wrong with the text. */
export function readIndexes(text: string, completions: number): Intervals | string {
  if (text === '') return []
  const intervals: (readonly [number, number])[] = []
  let before: number | undefined
  for (const part of text.split(',')) {
    const interval = readInterval(part, completions)
    if (typeof interval === 'string') return interval
    const [first, last] = interval
    if (before !== undefined && before >= first) return notIncreasing(before, first)
    intervals.push(interval)
    before = last
  }
  return intervals
}

const notIncreasing = (before: number, first: number): string =>
  `non-increasing order, previous: ${before}, current: ${first}`

function readInterval(text: string, completions: number): readonly [number, number] | string {
  const parts = text.split('-')
  if (parts.length > 2)
    return (
      `the fragment ${JSON.stringify(text)} violates the requirement that an index interval can have at most two ` +
      "parts separated by '-'"
    )
  for (const part of parts) {
    if (!/^\+?\d+$/.test(part)) return `cannot convert string to integer for index: ${JSON.stringify(part)}`
    if (Number(part) >= completions) return `too large index: ${JSON.stringify(part)}`
  }
  const [first = 0, last = first] = parts.map(Number)
  return parts.length === 2 && first >= last ? notIncreasing(first, last) : [first, last]
}

export const countOf = (intervals: Intervals): number =>
  intervals.reduce((sum, [first, last]) => sum + last - first + 1, 0)

/** The first index that is in both; what cannot be read is in neither. */
export function firstInBoth(one: string, other: string, completions: number): number | undefined {
  const [a, b] = [readable(one, completions), readable(other, completions)]
  for (let i = 0, j = 0; i < a.length && j < b.length; ) {
    const [[first, last], [otherFirst, otherLast]] = [a[i]!, b[j]!]
    if (first <= otherLast && otherFirst <= last) return Math.max(first, otherFirst)
    if (first <= otherFirst) i++
    else j++
  }
  return undefined
}

const readable = (text: string, completions: number): Intervals =>
  text.split(',').flatMap((part) => {
    const interval = readInterval(part, completions)
    return typeof interval === 'string' ? [] : [interval]
  })
