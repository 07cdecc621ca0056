/**
 * JSON with exact integers. Up to ±(2⁵³ − 1) an integer is a number; beyond, it is a bigint with all digits. Texts
 * without such integers are handled by JSON.parse and JSON.stringify
 * ([why](../../docs/decisions/0054-integers-keep-their-digits.md)).
 */

const least = -(2n ** 63n)
const most = 2n ** 63n - 1n

/** True if the value fits a signed 64-bit integer. */
export const isInt64 = (value: bigint): boolean => value >= least && value <= most

/** Converts to a number if that is exact. */
export const integer = (value: bigint): number | bigint => {
  const number = Number(value)
  return Number.isSafeInteger(number) ? number : value
}

/** The same, but a value beyond 64 bits becomes a float64, as in Go. */
export const integerOrFloat = (value: bigint): number | bigint => (isInt64(value) ? integer(value) : Number(value))

/** Number of digits of the smallest unsafe integer. */
const minDigits = 16
/** Texts are sampled at this distance: every run of 16 digits contains a sample. */
const stride = minDigits
const largestSafe = String(Number.MAX_SAFE_INTEGER)

const isDigit = (code: number): boolean => code >= 0x30 && code <= 0x39

/** True if a text may contain an integer beyond ±(2⁵³ − 1). May be true for strings that look like integers. */
export function mayHaveLongIntegers(text: string): boolean {
  for (let at = stride - 1; at < text.length; at += stride) {
    if (!isDigit(text.charCodeAt(at))) continue
    let start = at
    while (start > 0 && isDigit(text.charCodeAt(start - 1))) start--
    let end = at + 1
    while (end < text.length && isDigit(text.charCodeAt(end))) end++
    const isLong = end - start > minDigits || (end - start === minDigits && text.slice(start, end) > largestSafe)
    if (isLong && beginsNumber(text, start)) return true
    at = Math.max(at, end - 1)
  }
  return false
}

/** True if a JSON number may begin at an index: no letter, quote or point precedes it. */
function beginsNumber(text: string, digit: number): boolean {
  const before = text[digit - 1] === '-' ? text[digit - 2] : text[digit - 1]
  return before === undefined || before === ':' || before === ',' || before === '[' || before <= ' '
}

/** Integers with more digits exceed float64. */
const maxDigits = 310

const isIntegerText = (source: string): boolean => source.length <= maxDigits && /^-?\d+$/.test(source)

type Reviver = (key: string, value: unknown, context: { readonly source?: string }) => unknown

/** Features that TypeScript's libraries do not declare yet. */
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
    // Revivers are called recursively; callers limit the nesting themselves.
    if (error instanceof RangeError) return JSON.parse(text)
    throw error
  }
}

/**
 * Parses JSON as Go does for untyped values: int64 is exact (a bigint where a number is not), larger integers are
 * float64. Throws as JSON.parse.
 * @example parseJson('{"n":9007199254740993}') // { n: 9007199254740993n }
 */
export const parseJson = (text: string): unknown => parse(text, withInt64)

/** Parses JSON with all integers exact, for callers that check the range of their types. Throws as JSON.parse. */
export const parseExactJson = (text: string): unknown => parse(text, withAll)

export interface FloatTexts {
  /** The value, with a symbol for each of these numbers; its description is the text. */
  readonly value: unknown
  /** The first number that exceeds float64. */
  readonly beyond: string | undefined
}

/**
 * Finds integers that are written as floats, such as 1.0 or 1e3, and infinite numbers, such as 1e400, which JSON.parse
 * does not distinguish from integers. Other integers are exact. Returns undefined if there are none. Throws as
 * JSON.parse.
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

/** A replacer; `this` has the original value, even if BigInt.prototype has toJSON. */
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
      // The TypeError is the cheapest way to detect a bigint.
      if (!(error instanceof TypeError)) throw error
    }
  }
  return JSON.stringify(value, exactly, indent)
}
