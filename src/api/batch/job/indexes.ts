/** Index lists in a Job's status, such as `0,3-5,7`: increasing, each index below the number of completions. */

export type Intervals = readonly (readonly [first: number, last: number])[]

/** Returns the intervals, or an error message. */
export function parseIndexes(text: string, completions: number): Intervals | string {
  if (text === '') return []
  const intervals: (readonly [number, number])[] = []
  let before: number | undefined
  for (const part of text.split(',')) {
    const interval = parseInterval(part, completions)
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

function parseInterval(text: string, completions: number): readonly [number, number] | string {
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

/** Returns the first index that is in both lists; parts that cannot be parsed are ignored. */
export function firstCommonIndex(one: string, other: string, completions: number): number | undefined {
  const [a, b] = [parseValidIntervals(one, completions), parseValidIntervals(other, completions)]
  for (let i = 0, j = 0; i < a.length && j < b.length; ) {
    const [[first, last], [otherFirst, otherLast]] = [a[i]!, b[j]!]
    if (first <= otherLast && otherFirst <= last) return Math.max(first, otherFirst)
    if (first <= otherFirst) i++
    else j++
  }
  return undefined
}

const parseValidIntervals = (text: string, completions: number): Intervals =>
  text.split(',').flatMap((part) => {
    const interval = parseInterval(part, completions)
    return typeof interval === 'string' ? [] : [interval]
  })
