/** Encodes strings as Go's JSON encoder does. Strings that need no escaping take a fast path. */
import { goJson } from '../../../machinery/fields/json.ts'

const plain = /^[\x20\x21\x23-\x25\x27-\x3b\x3d\x3f-\x5b\x5d-\x7e]*$/

/** The encoded string without quotes. */
export const jsonInner = (text: string): string => (plain.test(text) ? text : goJson(text).slice(1, -1))

/** True if the string, and thus each substring, needs no escaping. */
export const isPlain = (text: string): boolean => plain.test(text)

export const jsonText = (text: string): string => (plain.test(text) ? `"${text}"` : goJson(text))

export const jsonTexts = (texts: readonly string[]): string => `[${texts.map(jsonText).join(',')}]`

const maxMemoized = 512

/** Caches the results of `make` for repeated strings. Clears the cache when it is full. */
export function memoized(make: (text: string) => string): (text: string) => string {
  const known = new Map<string, string>()
  return (text) => {
    let made = known.get(text)
    if (made === undefined) {
      made = make(text)
      if (known.size >= maxMemoized) known.clear()
      known.set(text, made)
    }
    return made
  }
}
