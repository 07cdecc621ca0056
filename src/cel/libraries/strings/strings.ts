/**
 * cel-go's library of strings (`ext.Strings`, Kubernetes' version 2). Positions are in characters, not UTF-16 units.
 */
import { goEscapes } from '../../../lib/go/go-quote.ts'
import type { CallEstimate, Estimate, EstimatedNode, Library } from '../../library.ts'
import { declare, member, overload, plus, scaled, times } from '../../standard/declare.ts'
import { dynType, intType, listType, stringType } from '../../types.ts'
import { ArrayList, CelError, type CelList } from '../../values.ts'
import { intOf, listOf, textOf } from '../arguments.ts'
import { type Costs, scanCost, scanEstimate, scanFirstCosts, sizeEstimate, sizeOf } from '../costs.ts'
import { traversalCosts } from '../lists/lists.ts'
import { formatString } from './format-string.ts'

const outOfRange = (index: bigint | number): CelError => new CelError(`index out of range: ${index}`)

const surrogate = /[\ud800-\udfff]/

/** A text that is indexed by characters. Fast for texts without surrogates, which nearly all are. */
interface CharacterText {
  readonly length: number
  /** Returns the characters from `from` up to `to`. Default: up to the end. */
  cut(from: bigint | number, to?: bigint | number): string
  /** Returns the number of characters before an index of the text, or -1 for index -1. */
  before(place: number): bigint
}

function byCharacters(text: string): CharacterText {
  if (!surrogate.test(text)) {
    return {
      length: text.length,
      cut: (from, to) => text.slice(Number(from), to === undefined ? undefined : Number(to)),
      before: (place) => BigInt(place),
    }
  }
  const characters = charactersOf(text)
  return {
    length: characters.length,
    cut: (from, to) => characters.slice(Number(from), to === undefined ? undefined : Number(to)).join(''),
    before: (place) => (place < 0 ? -1n : BigInt(charactersOf(text.slice(0, place)).length)),
  }
}

/** Returns a text's characters. Half of a surrogate pair counts as one. */
const charactersOf = (text: string): readonly string[] => Array.from(text)

function charAt(text: string, index: bigint): string {
  const characters = byCharacters(text)
  if (index < 0n || index > characters.length) throw outOfRange(index)
  return characters.cut(index, index + 1n)
}

function substring(text: string, from: bigint, to?: bigint): string {
  const characters = byCharacters(text)
  const end = to ?? BigInt(characters.length)
  if (to !== undefined && from > to) throw new CelError(`invalid substring range. start: ${from}, end: ${to}`)
  if (from < 0n || from > characters.length) throw outOfRange(from)
  if (end < 0n || end > characters.length) throw outOfRange(end)
  return characters.cut(from, end)
}

function indexOf(text: string, wanted: string, offset = 0n): bigint {
  if (wanted === '') return offset
  if (offset < 0n) throw outOfRange(offset)
  const characters = byCharacters(text)
  if (offset >= characters.length) return -1n
  return characters.before(text.indexOf(wanted, characters.cut(0, offset).length))
}

function lastIndexOf(text: string, wanted: string, offset?: bigint): bigint {
  const characters = byCharacters(text)
  if (wanted === '') return offset ?? BigInt(characters.length)
  if (offset !== undefined && offset < 0n) throw outOfRange(offset)
  if (offset !== undefined && offset >= characters.length) return -1n
  return characters.before(
    text.lastIndexOf(wanted, offset === undefined ? text.length : characters.cut(0, offset).length),
  )
}

/**
 * Replaces the first `limit` occurrences of `old`, or all if it is negative. An empty `old` occurs before every
 * character and at the end.
 */
function replace(text: string, old: string, by: string, limit = -1n): string {
  if (limit === 0n) return text
  const pieces = old === '' ? ['', ...charactersOf(text), ''] : text.split(old)
  if (old === '') {
    const count = limit < 0n ? pieces.length - 1 : Math.min(pieces.length - 1, Number(limit))
    return pieces.slice(0, count + 1).join(by) + pieces.slice(count + 1).join('')
  }
  if (limit < 0n || limit >= pieces.length - 1) return pieces.join(by)
  const count = Number(limit)
  return `${pieces.slice(0, count + 1).join(by)}${old}${pieces.slice(count + 1).join(old)}`
}

/** Splits into at most `limit` pieces, if it is not negative. The last one is the rest. */
function split(text: string, separator: string, limit = -1n): readonly string[] {
  if (limit === 0n) return []
  const pieces = separator === '' ? charactersOf(text) : text.split(separator)
  if (limit < 0n || limit >= pieces.length) return pieces
  const count = Number(limit)
  return [...pieces.slice(0, count - 1), pieces.slice(count - 1).join(separator)]
}

const join = (list: CelList, separator = ''): string => Array.from(list, textOf).join(separator)

/** Unicode's white space. JavaScript's includes the byte order mark and lacks U+0085. */
const space = '[\\t-\\r \\u0085\\u00a0\\u1680\\u2000-\\u200a\\u2028\\u2029\\u202f\\u205f\\u3000]'
const leading = new RegExp(`^${space}+`)
const isSpace = new RegExp(`^${space}$`)

function trim(text: string): string {
  let end = text.length
  while (end > 0 && isSpace.test(text[end - 1] ?? '')) end--
  return text.slice(0, end).replace(leading, '')
}

/** Quotes a text with CEL's escapes. */
const quote = (text: string): string =>
  // biome-ignore lint/suspicious/noControlCharactersInRegex: these characters are escaped
  `"${text.toWellFormed().replace(/[\x07-\r\\"]/g, (character) => goEscapes[character] ?? character)}"`

const scanCosts = scanFirstCosts(1, true)

/** Estimates the size of a text after a replacement. */
function replacedSize(size: Estimate, old: Estimate, by: Estimate): Estimate {
  const most =
    old.min === 0
      ? (size.max + 1) * by.max + size.max
      : by.max <= old.min
        ? size.max
        : Math.ceil(size.max / old.min) * by.max
  const least =
    old.max === 0
      ? (size.min + 1) * by.min + size.min
      : old.max <= by.min
        ? size.min
        : Math.ceil(size.min / old.max) * by.min
  return scaled({ min: least, max: most }, 1)
}

const replaceCosts: Costs = {
  cost: ([text]) => scanCost(sizeOf(text), 2),
  estimate: ([text, old, by]) => {
    const size = sizeEstimate(text)
    return { cost: scanEstimate(size, 2), size: replacedSize(size, sizeEstimate(old), sizeEstimate(by)) }
  },
}

const splitCosts: Costs = {
  cost: ([text]) => scanCost(sizeOf(text), 2),
  estimate: ([text, , limit]) => {
    const size = sizeEstimate(text)
    const most = typeof limit?.literal === 'bigint' ? Number(BigInt.asUintN(64, limit.literal)) : size.max
    return { cost: scanEstimate(size, 2), size: { min: 0, max: most } }
  },
}

function joinedEstimate([list, separator]: readonly EstimatedNode[]): CallEstimate {
  const count = sizeEstimate(list)
  const elements = list === undefined ? count : times(count, list.elements.size)
  const between = { min: Math.max(0, count.min - 1), max: Math.max(0, count.max - 1) }
  const size = separator === undefined ? elements : plus(elements, times(separator.size, between))
  return { cost: scanEstimate(size), size }
}

const joinCosts: Costs = { cost: (_, result) => scanCost(sizeOf(result), 2), estimate: joinedEstimate }

const quoteCosts: Costs = {
  cost: ([text]) => scanCost(sizeOf(text)),
  estimate: ([text]) => {
    const size = sizeEstimate(text)
    return { cost: scanEstimate(size), size: scaled({ min: size.min + 2, max: size.max * 2 + 2 }, 1) }
  },
}

const texts = listType(stringType)

export const stringsLibrary: Library = {
  name: 'cel.lib.ext.strings',
  functions: [
    declare(
      'charAt',
      member('string_char_at_int', [stringType, intType], stringType, (text, index) =>
        charAt(textOf(text), intOf(index)),
      ),
    ),
    declare(
      'indexOf',
      member(
        'string_index_of_string',
        [stringType, stringType],
        intType,
        (text, wanted) => indexOf(textOf(text), textOf(wanted)),
        traversalCosts,
      ),
      member(
        'string_index_of_string_int',
        [stringType, stringType, intType],
        intType,
        (text, wanted, offset) => indexOf(textOf(text), textOf(wanted), intOf(offset)),
        traversalCosts,
      ),
    ),
    declare(
      'lastIndexOf',
      member(
        'string_last_index_of_string',
        [stringType, stringType],
        intType,
        (text, wanted) => lastIndexOf(textOf(text), textOf(wanted)),
        traversalCosts,
      ),
      member(
        'string_last_index_of_string_int',
        [stringType, stringType, intType],
        intType,
        (text, wanted, offset) => lastIndexOf(textOf(text), textOf(wanted), intOf(offset)),
        traversalCosts,
      ),
    ),
    declare(
      'join',
      member('list_join', [texts], stringType, (list) => join(listOf(list)), joinCosts),
      member(
        'list_join_string',
        [texts, stringType],
        stringType,
        (list, separator) => join(listOf(list), textOf(separator)),
        joinCosts,
      ),
    ),
    declare(
      'lowerAscii',
      member(
        'string_lower_ascii',
        [stringType],
        stringType,
        (text) => textOf(text).replace(/[A-Z]+/g, (it) => it.toLowerCase()),
        scanCosts,
      ),
    ),
    declare(
      'upperAscii',
      member(
        'string_upper_ascii',
        [stringType],
        stringType,
        (text) => textOf(text).replace(/[a-z]+/g, (it) => it.toUpperCase()),
        scanCosts,
      ),
    ),
    declare(
      'replace',
      member(
        'string_replace_string_string',
        [stringType, stringType, stringType],
        stringType,
        (text, old, by) => replace(textOf(text), textOf(old), textOf(by)),
        replaceCosts,
      ),
      member(
        'string_replace_string_string_int',
        [stringType, stringType, stringType, intType],
        stringType,
        (text, old, by, limit) => replace(textOf(text), textOf(old), textOf(by), intOf(limit)),
        replaceCosts,
      ),
    ),
    declare(
      'split',
      member(
        'string_split_string',
        [stringType, stringType],
        texts,
        (text, by) => new ArrayList(split(textOf(text), textOf(by))),
        splitCosts,
      ),
      member(
        'string_split_string_int',
        [stringType, stringType, intType],
        texts,
        (text, by, limit) => new ArrayList(split(textOf(text), textOf(by), intOf(limit))),
        splitCosts,
      ),
    ),
    declare(
      'substring',
      member(
        'string_substring_int',
        [stringType, intType],
        stringType,
        (text, from) => substring(textOf(text), intOf(from)),
        scanCosts,
      ),
      member(
        'string_substring_int_int',
        [stringType, intType, intType],
        stringType,
        (text, from, to) => substring(textOf(text), intOf(from), intOf(to)),
        scanCosts,
      ),
    ),
    declare(
      'trim',
      member('string_trim', [stringType], stringType, (text) => trim(textOf(text)), scanCosts),
    ),
    declare(
      'format',
      member(
        'string_format',
        [stringType, listType(dynType)],
        stringType,
        (text, args) => formatString(textOf(text), listOf(args)),
        scanFirstCosts(),
      ),
    ),
    declare(
      'strings.quote',
      overload('strings_quote', [stringType], stringType, (text) => quote(textOf(text)), quoteCosts),
    ),
  ],
}
