/**
 * A bound for how many values an object may be made of. Work on an object goes by the number of its values, not by its
 * bytes: `{}` a million times is a small body, and minutes of work. An object of the largest size that can be stored
 * (1.5 MiB) whose values take sixteen bytes each is within the bound.
 */
import { requestEntityTooLarge, type StatusError } from '../../status-error.ts'

/** Members and items, at all levels. */
export const maxValues = 100_000

/** Each takes a character and what parts it from the next. */
const leastCharacters = 2

export const tooManyValues = (): StatusError =>
  requestEntityTooLarge(`Request entity too large: an object may have at most ${maxValues} values`)

const quote = 0x22
const backslash = 0x5c
const comma = 0x2c
const openList = 0x5b
const openObject = 0x7b

/** Whether a list or object that was just opened is empty. Spaces inside empty ones are counted as a value. */
const closes = (c: number): boolean => c === 0x5d || c === 0x7d

/**
 * Throws 413 if a JSON text has more values than an object may have: quick, so that it is known before the text is
 * parsed.
 */
export function checkValues(text: string): void {
  if (text.length <= maxValues * leastCharacters) return
  let left = maxValues
  for (let i = 0; i < text.length; i++) {
    const c = text.charCodeAt(i)
    if (c === quote) {
      for (i++; i < text.length && text.charCodeAt(i) !== quote; i++) if (text.charCodeAt(i) === backslash) i++
    } else if ((c === comma || ((c === openList || c === openObject) && !closes(text.charCodeAt(i + 1)))) && --left < 0)
      throw tooManyValues()
  }
}
