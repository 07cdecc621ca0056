/**
 * Quantities: fixed-point numbers with a suffix (`500m`, `1.5Gi`, `1e3`), in the syntax of apimachinery's
 * `resource.Quantity`. They are exact, in billionths. Texts repeat a lot, so parsed quantities are cached.
 */

export interface Quantity {
  /** The amount in billionths (nano). */
  readonly nano: bigint
  /** The canonical text: no fraction, the largest suffix that is exact. */
  readonly canonical: string
  readonly format: Format
}

type Format = 'decimal' | 'binary' | 'exponent'

/** The text is not a quantity. The message is upstream's. */
export class QuantityError extends Error {
  constructor(message: string) {
    super(message)
    this.name = 'QuantityError'
  }
}

const giga = 1_000_000_000n
/** Quantities are capped at the largest int64. */
const max = (2n ** 63n - 1n) * giga

const decimalSuffixes = ['n', 'u', 'm', '', 'k', 'M', 'G', 'T', 'P', 'E']
const binarySuffixes = ['', 'Ki', 'Mi', 'Gi', 'Ti', 'Pi', 'Ei']

const cache = new Map<string, Quantity>()
const cacheLimit = 8192
/** Longer texts rarely repeat. */
const cachedLength = 32

/** Parses a quantity. Throws QuantityError. */
export function parseQuantity(text: string): Quantity {
  const known = cache.get(text)
  if (known) return known
  const quantity = parse(text)
  if (text.length > cachedLength) return quantity
  if (cache.size >= cacheLimit) cache.clear()
  cache.set(text, quantity)
  return quantity
}

/** Returns the canonical text of a quantity: `1000m` → `1`, `0.5Gi` → `512Mi`. Throws QuantityError. */
export const canonicalQuantity = (text: string | number): string => parseQuantity(String(text)).canonical

/** Returns true if `text` is a quantity. */
export function isQuantity(text: string | number): boolean {
  try {
    parseQuantity(String(text))
    return true
  } catch {
    return false
  }
}

/** Returns -1, 0 or 1 if `a` is smaller than, equal to or greater than `b`. */
export function compareQuantities(a: string, b: string): number {
  if (a === b) return 0
  const x = parseQuantity(a).nano
  const y = parseQuantity(b).nano
  return x < y ? -1 : x > y ? 1 : 0
}

/** Returns -1, 0 or 1. */
export function signOf(text: string): number {
  const { nano } = parseQuantity(text)
  return nano < 0n ? -1 : nano > 0n ? 1 : 0
}

/** Returns `a + b` in the format of `a`, or of `b` if `a` is zero. */
export function addQuantities(a: string, b: string): string {
  const x = parseQuantity(a)
  const y = parseQuantity(b)
  return write(x.nano + y.nano, x.nano === 0n ? y.format : x.format)
}

/** Returns `a - b` in the format of `a`. */
export function subtractQuantities(a: string, b: string): string {
  const x = parseQuantity(a)
  return write(x.nano - parseQuantity(b).nano, x.format)
}

/** Returns the canonical text rounded up to thousandths, the precision of resource lists. */
export function milliQuantity(text: string | number): string {
  const { nano, canonical, format } = parseQuantity(String(text))
  const rest = nano % 1_000_000n
  if (rest === 0n) return canonical
  return write(nano - rest + (nano < 0n ? -1_000_000n : 1_000_000n), format)
}

/** Returns true if the amount has no fraction. */
export const isWhole = (text: string): boolean => parseQuantity(text).nano % giga === 0n

/** Returns the amount rounded up to whole units, as Go's `Value()`. */
export function wholeValue(text: string): bigint {
  const { nano } = parseQuantity(text)
  const whole = nano / giga
  return nano % giga > 0n ? whole + 1n : whole
}

/** Returns the amount rounded up to thousandths, as Go's `MilliValue()`. */
export function milliValue(text: string): bigint {
  const { nano } = parseQuantity(text)
  const whole = nano / 1_000_000n
  return nano % 1_000_000n > 0n ? whole + 1n : whole
}

/**
 * Two expressions, each of which can match in one way only: one expression in which digits could match in two places
 * would backtrack.
 */
const amountShape = /^([+-]?)(\d*)(?:\.(\d*))?(.*)$/s
const suffixShape = /^([eEinumkKMGTP]*)([-+]?\d*)$/

/** Of further digits, only matters whether any is not zero. */
const maxDigits = 128
const maxFraction = 32

function parse(text: string): Quantity {
  const [, sign, allWhole = '', allFraction = '', rest = ''] = amountShape.exec(text) ?? []
  const suffix = suffixShape.exec(rest)
  if (text === '' || !suffix)
    throw new QuantityError(
      "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'",
    )
  const [, letters = '', power = ''] = suffix
  if (allWhole === '' && allFraction === '') throw new QuantityError('unable to parse numeric part of quantity')
  const { base, exponent, format } = suffixOf(letters, power)
  const significant = allWhole.length > maxDigits ? allWhole.replace(/^0+/, '') : allWhole
  const whole = significant.slice(0, maxDigits)
  const dropped = significant.length - whole.length
  const fraction = dropped > 0 ? '' : shortened(allFraction)
  const digits = BigInt(whole + fraction)
  const scaled = base === 2 ? digits << BigInt(exponent) : digits
  // Beyond these powers every result is zero or the cap.
  const tens = Math.max(-256, Math.min(64, (base === 2 ? 0 : exponent) + dropped - fraction.length + 9))
  const amount = capped(tens >= 0 ? scaled * 10n ** BigInt(tens) : roundedUp(scaled, 10n ** BigInt(-tens)))
  const nano = sign === '-' ? -amount : amount
  // Fractions of a byte are written in thousandths.
  const writtenFormat = format === 'binary' && nano > 0n && nano < giga ? 'decimal' : format
  return { nano, canonical: write(nano, writtenFormat), format: writtenFormat }
}

const shortened = (fraction: string): string =>
  fraction.length > maxFraction
    ? fraction.slice(0, maxFraction) + (/[1-9]/.test(fraction.slice(maxFraction)) ? '1' : '')
    : fraction

const capped = (nano: bigint): bigint => (nano > max ? max : nano)
const roundedUp = (amount: bigint, unit: bigint): bigint => (amount % unit === 0n ? amount / unit : amount / unit + 1n)

function suffixOf(letters: string, power: string): { base: 2 | 10; exponent: number; format: Format } {
  if (power === '') {
    const decimal = decimalSuffixes.indexOf(letters)
    if (decimal >= 0) return { base: 10, exponent: decimal * 3 - 9, format: 'decimal' }
    const binary = binarySuffixes.indexOf(letters)
    if (binary >= 0) return { base: 2, exponent: binary * 10, format: 'binary' }
  } else if ((letters === 'e' || letters === 'E') && /\d/.test(power)) {
    return { base: 10, exponent: Number(power), format: 'exponent' }
  }
  throw new QuantityError("unable to parse quantity's suffix")
}

function write(nano: bigint, format: Format): string {
  if (nano === 0n) return '0'
  const amount = nano < 0n ? -nano : nano
  const sign = nano < 0n ? '-' : ''
  if (format === 'binary' && amount >= 1024n * giga && amount % giga === 0n) {
    let value = amount / giga
    let power = 0
    while (power < binarySuffixes.length - 1 && value % 1024n === 0n) {
      value /= 1024n
      power++
    }
    return `${sign}${value}${binarySuffixes[power]}`
  }
  const text = amount.toString()
  let end = text.length
  while (text.charCodeAt(end - 1) === 48) end--
  const zeros = text.length - end
  // Suffixes are powers of 1000: up to two zeros remain with the digits.
  const extraZeros = zeros % 3
  const exponent = zeros - extraZeros - 9
  const digits = text.slice(0, end + extraZeros)
  if (format === 'exponent') return `${sign}${digits}${exponent === 0 ? '' : `e${exponent}`}`
  const step = exponent / 3 + 3
  return step < decimalSuffixes.length
    ? `${sign}${digits}${decimalSuffixes[step]}`
    : `${sign}${digits}${'0'.repeat(3 * (step - decimalSuffixes.length + 1))}E`
}
