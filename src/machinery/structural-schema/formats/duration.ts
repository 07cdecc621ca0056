/** Durations in Go's syntax (`1h30m`, `-1.5s`) or in words (`3 days`). */

const part = /(?:\d+(?:\.\d*)?|\.\d+)(?:ns|us|µs|μs|ms|s|m|h)/y

function isGoDuration(text: string): boolean {
  const rest = /^[+-]/.test(text) ? text.slice(1) : text
  if (rest === '0') return true
  if (rest === '') return false
  // One expression for all parts would exhaust the stack for a text with a million parts.
  part.lastIndex = 0
  while (part.lastIndex < rest.length) if (!part.test(rest)) return false
  return true
}

const words = /\s*(\d+)\s*([A-Za-zµ]+)\s*/y
const microsecond = 1_000n
const second = 1_000_000n * microsecond
const hour = 3600n * second
/** Units in nanoseconds, with their names. The last name of each also matches as a prefix: `hours`, `weekend`. */
const units: readonly (readonly [bigint, readonly string[]])[] = [
  [1n, ['ns', 'nano']],
  [microsecond, ['us', 'µs', 'micro']],
  [1_000n * microsecond, ['ms', 'milli']],
  [second, ['s', 'sec']],
  [60n * second, ['m', 'min']],
  [hour, ['h', 'hr', 'hour']],
  [24n * hour, ['d', 'day']],
  [7n * 24n * hour, ['w', 'wk', 'week']],
]

export const isDuration = (text: string): boolean => isGoDuration(text) || durationInWords(text) !== undefined

/**
 * Parses a duration such as `3 days` to nanoseconds. Returns undefined if it is invalid. At least one unit has to be
 * known; others are ignored.
 */
export function durationInWords(text: string): bigint | undefined {
  let total: bigint | undefined
  words.lastIndex = 0
  for (let at = 0; at < text.length; at = words.lastIndex) {
    const match = words.exec(text)
    const count = BigInt((match?.[1] ?? '').slice(0, 25))
    if (!match || count > 2n ** 63n - 1n) return undefined
    const unit = (match[2] ?? '').toLowerCase()
    for (const [size, names] of units)
      if (names.includes(unit) || unit.startsWith(names.at(-1) ?? '')) total = (total ?? 0n) + count * size
  }
  return total === undefined ? undefined : BigInt.asIntN(64, total)
}
