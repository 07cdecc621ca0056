/** Standard base64 as Go's encoding/json decodes it: padded, line breaks ignored. */
import { DecodeError } from './decode-error.ts'

const alphabet = /^[A-Za-z0-9+/]$/
const plain = /^[A-Za-z0-9+/]*/
const whole = /^[A-Za-z0-9+/]*={0,2}$/

/** Returns the index in the text at which Go's decoder fails, or -1 if the text is valid. */
function corruptAt(text: string): number {
  // Complete groups at the start, which are nearly all of the text, are valid.
  const start = plain.exec(text)?.[0].length ?? 0
  let at = start - (start % 4)
  const skipBreaks = (): void => {
    while (text[at] === '\n' || text[at] === '\r') at++
  }
  for (;;) {
    for (let digit = 0; digit < 4; digit++) {
      skipBreaks()
      const char = text[at]
      if (char === undefined) return digit === 0 ? -1 : at - digit
      at++
      if (alphabet.test(char)) continue
      if (char !== '=' || digit < 2) return at - 1
      if (digit === 2) {
        skipBreaks()
        if (at === text.length) return at
        if (text[at] !== '=') return at - 1
        at++
      }
      skipBreaks()
      return at < text.length ? at : -1
    }
  }
}

/** Returns the canonical form (no line breaks, no stray bits). Throws `illegal base64 data at input byte N`. */
export function canonicalBase64(text: string): string {
  if (text.length % 4 !== 0 || !whole.test(text)) {
    const at = corruptAt(text)
    if (at >= 0) throw new DecodeError(`illegal base64 data at input byte ${at}`)
    return Buffer.from(text, 'base64').toString('base64')
  }
  if (!text.endsWith('=')) return text
  const tail = text.slice(-4)
  const canonical = Buffer.from(tail, 'base64').toString('base64')
  return canonical === tail ? text : text.slice(0, -4) + canonical
}
