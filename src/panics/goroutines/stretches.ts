/** Calls that repeat in a stack, folded: recursion without end fills it with the same few. */

/** Entries `from` … `from + length - 1` come `times` times, one after the other. */
export interface Stretch {
  readonly from: number
  readonly length: number
  readonly times: number
}

/** The longest cycle of calls that is looked for. */
const longestCycle = 10
/** What comes less often is shown as it is. */
const leastTimes = 3

/** `keyOf` is the same for the same call. */
export function folded<T>(items: readonly T[], keyOf: (item: T) => string): readonly Stretch[] {
  const keys = items.map(keyOf)
  const found: Stretch[] = []
  let single = 0
  for (let at = 0; at < keys.length; ) {
    const [length, times] = cycleAt(keys, at)
    if (times < leastTimes) {
      at++
      continue
    }
    if (single < at) found.push({ from: single, length: at - single, times: 1 })
    found.push({ from: at, length, times })
    at += length * times
    single = at
  }
  if (single < keys.length) found.push({ from: single, length: keys.length - single, times: 1 })
  return found
}

function cycleAt(keys: readonly string[], at: number): readonly [length: number, times: number] {
  for (let length = 1; length <= longestCycle && at + length * leastTimes <= keys.length; length++) {
    let end = at + length
    while (end < keys.length && keys[end] === keys[end - length]) end++
    const times = Math.floor((end - at) / length)
    if (times >= leastTimes) return [length, times]
  }
  return [1, 1]
}
