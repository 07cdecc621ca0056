/** `'%s has %d'.format([x, y])` with the clauses and messages of cel-go's first formatter. */
import { Buffer } from 'node:buffer'
import { goQuote } from '../../../lib/go/go-quote.ts'
import { compareStrings } from '../../evaluation/equality.ts'
import { formatDuration, formatTime } from '../../standard/time-text.ts'
import { CelError, CelList, CelMap, Duration, Timestamp, UInt, type Value } from '../../values.ts'
import { fixedText, plainFixedText, scientificText } from './number-text.ts'
import { scalarText, typeNameOf } from './value-text.ts'

const defaultPrecision = 6
/** Go's limit. Larger ones are reported in the text, not as an error. */
const maxPrecision = 1_000_000
/** Our own limit, in characters: upstream has none, and a short expression could create a huge text. */
const maxTextLength = 16 * 1024 * 1024

/** Formats the text. Throws CelError. */
export function formatString(format: string, args: CelList): string {
  let text = ''
  let used = 0
  for (let i = 0; i < format.length; ) {
    const percent = format.indexOf('%', i)
    if (percent < 0) return text + format.slice(i)
    text += format.slice(i, percent)
    if (format[percent + 1] === '%') {
      text += '%'
      i = percent + 2
      continue
    }
    if (used >= args.size) throw new CelError(`index ${used} out of range`)
    if (percent + 1 >= format.length) throw new CelError('unexpected end of string')
    const { verb, precision, end } = clauseAt(format, percent + 1)
    text += formatValue(verb, precision, args.at(used++))
    if (text.length > maxTextLength) throw new CelError(`formatted text is longer than ${maxTextLength} characters`)
    i = end
  }
  return text
}

interface Clause {
  readonly verb: Verb
  readonly precision: number | undefined
  readonly end: number
}

type Verb = 's' | 'd' | 'f' | 'e' | 'b' | 'x' | 'X' | 'o'

const verbs: readonly string[] = ['s', 'd', 'f', 'e', 'b', 'x', 'X', 'o'] satisfies Verb[]
const isVerb = (text: string): text is Verb => verbs.includes(text)

function clauseAt(format: string, start: number): Clause {
  const unreadable = (why: string): CelError => new CelError(`could not parse formatting clause: ${why}`)
  let at = start
  let precision: number | undefined
  if (format[at] === '.') {
    const digits = /^[0-9]*/.exec(format.slice(++at))?.[0] ?? ''
    at += digits.length
    if (at >= format.length)
      throw unreadable('error while parsing precision: could not find end of precision specifier')
    const wrong =
      digits === '' ? 'invalid syntax' : BigInt(digits.slice(0, 40)) > 2n ** 63n - 1n ? 'value out of range' : undefined
    if (wrong)
      throw unreadable(
        'error while parsing precision: error while converting precision to integer: strconv.Atoi: parsing ' +
          `${goQuote(digits)}: ${wrong}`,
      )
    precision = Number(digits)
  }
  // Go reads bytes: its message has the first byte of a character.
  const verb = String.fromCharCode(Buffer.from(String.fromCodePoint(format.codePointAt(at) ?? 0))[0] ?? 0)
  if (!isVerb(verb)) throw unreadable(`unrecognized formatting clause "${verb}"`)
  return { verb, precision, end: at + 1 }
}

const wrong = (what: string, value: Value): CelError =>
  new CelError(`error during formatting: ${what}, was given ${typeNameOf(value)}`)

function formatValue(verb: Verb, precision: number | undefined, value: Value): string {
  switch (verb) {
    case 's':
      return stringText(value)
    case 'd':
      return integerOf(value, 'decimal clause can only be used on integers').toString()
    case 'o':
      return integerOf(value, 'octal clause can only be used on integers').toString(8)
    case 'b':
      return (
        typeof value === 'boolean'
          ? BigInt(value)
          : integerOf(value, 'only integers and bools can be formatted as binary')
      ).toString(2)
    case 'x':
      return hexText(value)
    case 'X':
      return hexText(value).toUpperCase()
    case 'f':
      return precise(fixedText, doubleOf(value, 'fixed-point'), precision)
    case 'e':
      return precise(scientificText, doubleOf(value, 'scientific'), precision)
    default:
      return verb satisfies never
  }
}

const precise = (
  write: (value: number, precision: number) => string,
  value: number,
  precision = defaultPrecision,
): string => (precision > maxPrecision ? `%!(BADPREC)${write(value, defaultPrecision)}` : write(value, precision))

function integerOf(value: Value, what: string): bigint {
  if (typeof value === 'bigint') return value
  if (value instanceof UInt) return value.value
  throw wrong(what, value)
}

const named: Readonly<Record<string, number>> = {
  NaN: Number.NaN,
  Infinity: Number.POSITIVE_INFINITY,
  '-Infinity': Number.NEGATIVE_INFINITY,
}

function doubleOf(value: Value, clause: string): number {
  if (typeof value === 'number') return value
  const special = typeof value === 'string' && Object.hasOwn(named, value) ? named[value] : undefined
  if (special === undefined) throw wrong(`${clause} clause can only be used on doubles`, value)
  return special
}

function hexText(value: Value): string {
  if (typeof value === 'string') return Buffer.from(value).toString('hex')
  if (value instanceof Uint8Array) return Buffer.from(value).toString('hex')
  return integerOf(value, 'only integers, byte buffers, and strings can be formatted as hex').toString(16)
}

function stringText(value: Value): string {
  if (value instanceof CelList) return listText(value)
  if (value instanceof CelMap && value.objectType === undefined) return mapText(value)
  const text = scalarText(value)
  if (text === undefined) {
    throw wrong(
      'string clause can only be used on strings, bools, bytes, ints, doubles, maps, lists, types, durations, ' +
        'and timestamps',
      value,
    )
  }
  return text
}

const listText = (list: CelList): string => `[${[...list].map(literalText).join(', ')}]`

function mapText(map: CelMap): string {
  const entries = [...map.keys()].map((key) => ({ key: literalText(key), value: literalText(map.get(key) ?? null) }))
  return `{${entries
    .sort((a, b) => compareStrings(a.key, b.key))
    .map(({ key, value }) => `${key}:${value}`)
    .join(', ')}}`
}

/** Formats a value in a list or map, similar to its form in an expression. */
function literalText(value: Value): string {
  if (typeof value === 'string') return goQuote(value)
  if (value instanceof Uint8Array) return `b${goQuote(scalarText(value) ?? '')}`
  if (typeof value === 'number')
    return Number.isFinite(value)
      ? plainFixedText(value, defaultPrecision)
      : goQuote(plainFixedText(value, defaultPrecision))
  if (value instanceof Timestamp) return `timestamp(${goQuote(formatTime(value))})`
  if (value instanceof Duration) return `duration(${goQuote(formatDuration(value.nanoseconds))})`
  if (value instanceof CelList) return listText(value)
  if (value instanceof CelMap && value.objectType === undefined) return mapText(value)
  const text = scalarText(value)
  if (text === undefined) throw new CelError(`error during formatting: no formatting function for ${typeNameOf(value)}`)
  return text
}
