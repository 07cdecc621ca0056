/** Quotes texts as Go (`strconv.Quote`, `%q`), for upstream's messages. */

/** Characters with a short escape in Go and CEL. */
export const goEscapes: Readonly<Record<string, string>> = {
  '\x07': '\\a',
  '\b': '\\b',
  '\f': '\\f',
  '\n': '\\n',
  '\r': '\\r',
  '\t': '\\t',
  '\v': '\\v',
  '\\': '\\\\',
  '"': '\\"',
}
const plain = /^[ !#-[\]-~]*$/
const printable = /^[\p{L}\p{M}\p{N}\p{P}\p{S} ]$/u

/** True if a character is printable (`unicode.IsPrint`). */
export const isPrintable = (character: string): boolean => printable.test(character)

/** Returns `text` in double quotes, with unprintable characters escaped. */
export function goQuote(text: string): string {
  if (plain.test(text)) return `"${text}"`
  let quoted = ''
  for (const character of text)
    quoted += goEscapes[character] ?? (isPrintable(character) ? character : escaped(character.codePointAt(0) ?? 0))
  return `"${quoted}"`
}

function escaped(point: number): string {
  if (point < 0x20 || point === 0x7f) return `\\x${hex(point, 2)}`
  // A lone surrogate is not a character; Go would decode it as U+FFFD.
  if (point >= 0xd800 && point <= 0xdfff) return '\\ufffd'
  return point < 0x10000 ? `\\u${hex(point, 4)}` : `\\U${hex(point, 8)}`
}

const hex = (value: number, digits: number): string => value.toString(16).padStart(digits, '0')
