/**
 * JSON whose integers keep their digits. Up to ±(2⁵³ − 1) an integer is a number, as ever; beyond that it is a bigint,
 * and is written as the digits that it was read from. Texts without such integers are read and written by JSON.parse
 * and JSON.stringify ([why](../../docs/decisions/0054-integers-keep-their-digits.md)).
 */

const least = -(2n ** 63n)
const most = 2n ** 63n - 1n

/** True for what a signed integer of 64 bits can hold. */
export const isInt64 = (value: bigint): boolean => value >= least && value <= most

/** The integer as it is kept: a number where that is exact, else a bigint. */
export const integer = (value: bigint): number | bigint => {
  const number = Number(value)
  return Number.isSafeInteger(number) ? number : value
}

/** The same of an integer that may be beyond 64 bits, where Go's JSON takes a float64. */
export const integerOrFloat = (value: bigint): number | bigint => (isInt64(value) ? integer(value) : Number(value))

/** Digits of the smallest integer that a number cannot hold. */
const fewestDigits = 16
/** Its half, by which texts are sampled: no run of 16 digits lies between two samples. */
const stride = fewestDigits
const largestSafe = String(Number.MAX_SAFE_INTEGER)

const isDigit = (code: number): boolean => code >= 0x30 && code <= 0x39

/**
 * True if an integer beyond ±(2⁵³ − 1) may stand in a text: sometimes also where strings look like that, never the
 * other way.
 */
export function mayHaveLongIntegers(text: string): boolean {
  for (let at = stride - 1; at < text.length; at += stride) {
    if (!isDigit(text.charCodeAt(at))) continue
    let start = at
    while (start > 0 && isDigit(text.charCodeAt(start - 1))) start--
    let end = at + 1
    while (end < text.length && isDigit(text.charCodeAt(end))) end++
    const isLong = end - start > fewestDigits || (end - start === fewestDigits && text.slice(start, end) > largestSafe)
    if (isLong && beginsNumber(text, start)) return true
    at = Math.max(at, end - 1)
  }
  return false
}

/** True if a JSON value could begin with the digit at an index: no letter, quote or point is before it. */
function beginsNumber(text: string, digit: number): boolean {
  const before = text[digit - 1] === '-' ? text[digit - 2] : text[digit - 1]
  return before === undefined || before === ':' || before === ',' || before === '[' || before <= ' '
}

/** Integers with more digits are beyond every float64. */
const mostDigits = 310

const isIntegerText = (source: string): boolean => source.length <= mostDigits && /^-?\d+$/.test(source)

type Reviver = (key: string, value: unknown, context: { readonly source?: string }) => unknown

/** What TypeScript's libraries do not declare yet. */
const json = JSON as unknown as {
  parse(text: string, reviver: Reviver): unknown
  rawJSON(text: string): unknown
}

const reviver =
  (integerOf: (value: bigint) => number | bigint): Reviver =>
  (_key, value, { source }) =>
    typeof value === 'number' && source !== undefined && !Number.isSafeInteger(value) && isIntegerText(source)
      ? integerOf(BigInt(source))
      : value

const withInt64 = reviver(integerOrFloat)
const withAll = reviver(integer)

function parse(text: string, revive: Reviver): unknown {
  if (!mayHaveLongIntegers(text)) return JSON.parse(text)
  try {
    return json.parse(text, revive)
  } catch (error) {
    // Revivers are called recursively: callers say themselves how deep a text may be nested.
    if (error instanceof RangeError) return JSON.parse(text)
    throw error
  }
}

/**
 * Parses JSON as Go does for untyped values: int64 is exact (a bigint where a number is not), larger integers are float64.
 * Throws as JSON.parse.
 * @example parseJson('{"n":9007199254740993}') // { n: 9007199254740993n }
 */
export const parseJson = (text: string): unknown => parse(text, withInt64)

/**
 * Parses JSON with all its integers exact: for readers that refuse those which do not fit their types. Throws as
 * JSON.parse.
 */
export const parseWholeJson = (text: string): unknown => parse(text, withAll)

export interface FloatTexts {
  /** The value, in which a symbol with the text stands for each of them. */
  readonly value: unknown
  /** The first that is beyond float64, for which Go has no value. */
  readonly beyond: string | undefined
}

/**
 * Numbers of a JSON text that are written as floats and are integers, such as 1.0 or 1e3, or infinite, such as 1e400:
 * JSON.parse does not let them be told apart from integers. Other integers keep all digits. Undefined without such
 * numbers. Throws as JSON.parse.
 */
export function floatTexts(text: string): FloatTexts | undefined {
  let isFound = false
  let beyond: string | undefined
  const revive: Reviver = (_key, value, { source }) => {
    if (typeof value !== 'number' || source === undefined) return value
    if (isIntegerText(source)) return Number.isSafeInteger(value) ? value : integer(BigInt(source))
    if (Number.isFinite(value) && !Number.isInteger(value)) return value
    isFound = true
    if (!Number.isFinite(value)) beyond ??= source
    return Symbol(source)
  }
  try {
    const value = json.parse(text, revive)
    return isFound ? { value, beyond } : undefined
  } catch (error) {
    if (error instanceof RangeError) return undefined
    throw error
  }
}

/** `this` holds the value as it is, even where a program has given bigints a toJSON. */
function exactly(this: unknown, key: string, value: unknown): unknown {
  const original = (this as Record<string, unknown>)[key]
  return typeof original === 'bigint' ? json.rawJSON(String(original)) : value
}

const bigintsHaveToJson = (): boolean => 'toJSON' in BigInt.prototype

/**
 * Writes JSON as JSON.stringify does, and bigints as integers.
 * @example writeJson({ n: 9007199254740993n }) // '{"n":9007199254740993}'
 */
export function writeJson(value: unknown, indent?: number): string {
  if (!bigintsHaveToJson()) {
    try {
      return JSON.stringify(value, undefined, indent)
    } catch (error) {
      // There is no other sign of a bigint that costs nothing where there is none.
      if (!(error instanceof TypeError)) throw error
    }
  }
  return JSON.stringify(value, exactly, indent)
}
