/** Durations as Go reads them (`1h30m`, `-1.5s`), or in words (`3 days`). */

const part = /(?:\d+(?:\.\d*)?|\.\d+)(?:ns|us|µs|μs|ms|s|m|h)/y

function isGoDuration(text: string): boolean {
  const rest = /^[+-]/.test(text) ? text.slice(1) : text
  if (rest === '0') return true
  if (rest === '') return false
  // One expression for all parts would exhaust the stack of a text with a million of them.
  part.lastIndex = 0
  while (part.lastIndex < rest.length) if (!part.test(rest)) return false
  return true
}

const words = /\s*(\d+)\s*([A-Za-zµ]+)\s*/y
/** The last of each may have more letters: `hours`, `weekend`. */
const units: readonly (readonly string[])[] = [
  ['ns', 'nano'],
  ['us', 'µs', 'micro'],
  ['ms', 'milli'],
  ['s', 'sec'],
  ['m', 'min'],
  ['h', 'hr', 'hour'],
  ['d', 'day'],
  ['w', 'wk', 'week'],
]

/** At least one of the units has to be known. */
export function isDuration(text: string): boolean {
  if (isGoDuration(text)) return true
  let known = false
  words.lastIndex = 0
  for (let at = 0; at < text.length; at = words.lastIndex) {
    const match = words.exec(text)
    if (!match || BigInt((match[1] ?? '').slice(0, 25)) > 2n ** 63n - 1n) return false
    const unit = (match[2] ?? '').toLowerCase()
    known ||= units.some((names) => names.includes(unit) || unit.startsWith(names.at(-1) ?? ''))
  }
  return known
}
