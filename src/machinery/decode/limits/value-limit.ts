/**
 * The limit of values in an object. The cost of an object depends on the number of its values, not on its bytes: `{}` a
 * million times is a small body, and minutes of work. An object of the largest size that can be stored (1.5 MiB) whose
 * values take sixteen bytes each is within the limit.
 */
import { requestEntityTooLarge, type StatusError } from '../../status-error.ts'

/** The limit of members and items, at all levels. */
export const maxValues = 100_000

/** Each value takes at least one character and a separator. */
const minCharacters = 2

export const tooManyValues = (): StatusError =>
  requestEntityTooLarge(`Request entity too large: an object may have at most ${maxValues} values`)

const quote = 0x22
const backslash = 0x5c
const comma = 0x2c
const openList = 0x5b
const openObject = 0x7b

/** Returns true for a closing bracket or brace. An empty list or object with spaces inside counts as a value. */
const closes = (c: number): boolean => c === 0x5d || c === 0x7d

/** Throws 413 if a JSON text has more values than an object may have. Fast enough to run before the text is parsed. */
export function checkValues(text: string): void {
  if (text.length <= maxValues * minCharacters) return
  let remaining = maxValues
  for (let i = 0; i < text.length; i++) {
    const c = text.charCodeAt(i)
    if (c === quote) {
      for (i++; i < text.length && text.charCodeAt(i) !== quote; i++) if (text.charCodeAt(i) === backslash) i++
    } else if (
      (c === comma || ((c === openList || c === openObject) && !closes(text.charCodeAt(i + 1)))) &&
      --remaining < 0
    )
      throw tooManyValues()
  }
}
