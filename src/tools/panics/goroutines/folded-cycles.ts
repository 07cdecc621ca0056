/** Folds repeated calls of a stack, since an infinite recursion fills it with the same few. */

/** The entries `from` … `from + length - 1`, repeated `times` times. */
export interface FoldedCalls {
  readonly from: number
  readonly length: number
  readonly times: number
}

/** Maximum length of a cycle. */
const maxLength = 10
/** Minimum number of repetitions that are folded. */
const minTimes = 3

/** `keyOf` returns the same key for the same call. */
export function foldCycles<T>(items: readonly T[], keyOf: (item: T) => string): readonly FoldedCalls[] {
  const keys = items.map(keyOf)
  const found: FoldedCalls[] = []
  let single = 0
  for (let at = 0; at < keys.length; ) {
    const [length, times] = cycleAt(keys, at)
    if (times < minTimes) {
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
  for (let length = 1; length <= maxLength && at + length * minTimes <= keys.length; length++) {
    let end = at + length
    while (end < keys.length && keys[end] === keys[end - length]) end++
    const times = Math.floor((end - at) / length)
    if (times >= minTimes) return [length, times]
  }
  return [1, 1]
}
