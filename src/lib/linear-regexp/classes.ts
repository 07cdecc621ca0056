/** Named character classes. */
import { own } from '../own.ts'
import type { CharClass } from './syntax-tree.ts'

const range = (text: string): readonly number[] => [...text].map((char) => char.charCodeAt(0))

const digits = range('09')
const spaces = [9, 10, 12, 13, 32, 32]
const words = range('09AZ__az')

/** `\d`, `\s`, `\w` and their negations; ASCII only. */
export function perlClass(char: string): CharClass | undefined {
  const negated = char === 'D' || char === 'S' || char === 'W'
  switch (char.toLowerCase()) {
    case 'd':
      return { ranges: digits, negated, fold: false }
    case 's':
      return { ranges: spaces, negated, fold: false }
    case 'w':
      return { ranges: words, negated, fold: false }
    default:
      return undefined
  }
}

const ascii: Readonly<Record<string, readonly number[]>> = {
  alnum: range('09AZaz'),
  alpha: range('AZaz'),
  ascii: [0, 127],
  blank: [9, 9, 32, 32],
  cntrl: [0, 31, 127, 127],
  digit: digits,
  graph: range('!~'),
  lower: range('az'),
  print: range(' ~'),
  punct: range('!/:@[`{~'),
  space: [9, 13, 32, 32],
  upper: range('AZ'),
  word: words,
  xdigit: range('09AFaf'),
}

/** `[:alpha:]`. */
export function asciiClass(name: string, negated: boolean, fold: boolean): CharClass | undefined {
  const ranges = own(ascii, name)
  return ranges && { ranges, negated, fold }
}

const categories = /^(C[cfos]?|L[lmotu]?|M[cen]?|N[dlo]?|P[cdefios]?|S[ckmo]?|Z[lps]?)$/

/** `\p{Greek}`, `\pL`: scripts and general categories, by Go's names. */
export function unicodeClass(name: string, negated: boolean, fold: boolean): CharClass | undefined {
  if (name === 'Any') return { ranges: [0, 0x10ffff], negated, fold: false }
  try {
    const property = categories.test(name)
      ? new RegExp(`^\\p{${name}}$`, 'u')
      : /^[A-Z]\w+$/.test(name)
        ? new RegExp(`^\\p{Script=${name}}$`, 'u')
        : undefined
    return property && { ranges: [], properties: [property], negated, fold }
  } catch {
    return undefined
  }
}
