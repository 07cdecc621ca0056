/** Timestamps in the format of Go's `metav1.Time` and `metav1.MicroTime`, with the errors of Go's time.Parse. */
import { DecodeError } from './decode-error.ts'

const seconds = '2006-01-02T15:04:05Z07:00'
const micros = '2006-01-02T15:04:05.000000Z07:00'
const usual = /^\d{4}-(0[1-9]|1[0-2])-(0[1-9]|1\d|2[0-8])T([01]\d|2[0-3]):[0-5]\d:[0-5]\dZ$/

const daysIn = (year: number, month: number): number =>
  month === 2
    ? year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0)
      ? 29
      : 28
    : [4, 6, 9, 11].includes(month)
      ? 30
      : 31

interface Reader {
  readonly text: string
  readonly layout: string
  at: number
}

/** The limit of quoted characters, which no valid time reaches: otherwise errors could be larger than the request. */
const maxQuoted = 1000

const quoted = (text: string): string => JSON.stringify(text.length > maxQuoted ? `${text.slice(0, maxQuoted)}…` : text)

function fail({ text, layout }: Reader, rest: string, element: string): never {
  throw new DecodeError(
    `parsing time ${quoted(text)} as ${JSON.stringify(layout)}: cannot parse ${quoted(rest)} as ` +
      `${JSON.stringify(element)}`,
  )
}

function outOfRange({ text }: Reader, what: string): never {
  throw new DecodeError(`parsing time ${quoted(text)}: ${what} out of range`)
}

/** Reads a number of `digits` digits, or at least `least` if Go's layout element has no leading zero (hours). */
function number(reader: Reader, digits: number, element: string, least = digits): number {
  const match = new RegExp(`^\\d{${least},${digits}}`).exec(reader.text.slice(reader.at, reader.at + digits))
  if (!match) fail(reader, reader.text.slice(reader.at), element)
  reader.at += match[0].length
  return Number(match[0])
}

function literal(reader: Reader, char: string): void {
  if (reader.text[reader.at] !== char) fail(reader, reader.text.slice(reader.at), char)
  reader.at++
}

/** Reads the zone. Returns minutes east of UTC. */
function zone(reader: Reader): number {
  const rest = reader.text.slice(reader.at)
  if (rest.startsWith('Z')) {
    reader.at++
    return 0
  }
  const match = /^([+-])(\d\d):(\d\d)/.exec(rest)
  if (!match) fail(reader, rest, 'Z07:00')
  reader.at += 6
  const [hours, minutes] = [Number(match[2]), Number(match[3])]
  if (hours > 24) outOfRange(reader, 'time zone offset hour')
  if (minutes > 60) outOfRange(reader, 'time zone offset minute')
  return (hours * 60 + minutes) * (match[1] === '-' ? -1 : 1)
}

function fraction(reader: Reader, micro: boolean): string {
  const rest = reader.text.slice(reader.at)
  const match = micro ? /^[.,]\d{6}/.exec(rest) : /^[.,]\d+/.exec(rest)
  if (!match) {
    if (micro) fail(reader, rest, '.000000')
    return ''
  }
  reader.at += match[0].length
  return match[0].slice(1)
}

/**
 * Converts a timestamp to UTC with seconds or, with `micro`, six fractional digits. Returns an empty string for Go's
 * zero time, which counts as absent. Throws DecodeError if the text is not an RFC 3339 timestamp.
 */
export function canonicalTime(text: string, micro: boolean): string {
  if (!micro && usual.test(text)) return text.startsWith('0001-01-01T00:00:00') ? '' : text
  const reader: Reader = { text, layout: micro ? micros : seconds, at: 0 }
  const year = number(reader, 4, '2006')
  literal(reader, '-')
  const month = number(reader, 2, '01')
  if (month < 1 || month > 12) outOfRange(reader, 'month')
  literal(reader, '-')
  const day = number(reader, 2, '02')
  literal(reader, 'T')
  const hour = number(reader, 2, '15', 1)
  if (hour > 23) outOfRange(reader, 'hour')
  literal(reader, ':')
  const minute = number(reader, 2, '04')
  if (minute > 59) outOfRange(reader, 'minute')
  literal(reader, ':')
  const second = number(reader, 2, '05')
  if (second > 59) outOfRange(reader, 'second')
  const digits = fraction(reader, micro)
  const offset = zone(reader)
  if (reader.at < text.length)
    throw new DecodeError(`parsing time ${quoted(text)}: extra text: ${quoted(text.slice(reader.at))}`)
  if (day < 1 || day > daysIn(year, month)) outOfRange(reader, 'day')
  const moment = new Date(0)
  moment.setUTCFullYear(year, month - 1, day)
  moment.setUTCHours(hour, minute - offset, second, 0)
  const result = moment.toISOString().slice(0, -5)
  if (result === '0001-01-01T00:00:00' && !Number(digits)) return ''
  return micro ? `${result}.${digits}Z` : `${result}Z`
}
