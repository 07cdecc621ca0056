/**
 * Quantities: fixed-point numbers with a suffix (`500m`, `1.5Gi`, `1e3`), as apimachinery's `resource.Quantity` reads
 * and writes them. They are kept exact, in billionths; texts repeat a lot, so what was parsed is remembered.
 */

export interface Quantity {
  /** The amount in billionths (nano). */
  readonly nano: bigint
  /** The canonical text: no fraction, the largest suffix that keeps it exact. */
  readonly canonical: string
  readonly format: Format
}

type Format = 'decimal' | 'binary' | 'exponent'

/** The text is no quantity; the message is upstream's. */
export class QuantityError extends Error {
  constructor(message: string) {
    super(message)
    this.name = 'QuantityError'
  }
}

const giga = 1_000_000_000n
/** Quantities are capped at what an int64 holds. */
const max = (2n ** 63n - 1n) * giga

const decimalSuffixes = ['n', 'u', 'm', '', 'k', 'M', 'G', 'T', 'P', 'E']
const binarySuffixes = ['', 'Ki', 'Mi', 'Gi', 'Ti', 'Pi', 'Ei']

const remembered = new Map<string, Quantity>()
const rememberedLimit = 8192
/** Longer texts are no one's habit. */
const rememberedLength = 32

/** Reads a quantity. Throws QuantityError. */
export function parseQuantity(text: string): Quantity {
  const known = remembered.get(text)
  if (known) return known
  const quantity = parse(text)
  if (text.length > rememberedLength) return quantity
  if (remembered.size >= rememberedLimit) remembered.clear()
  remembered.set(text, quantity)
  return quantity
}

/** The canonical text of a quantity: `1000m` → `1`, `0.5Gi` → `512Mi`. Throws QuantityError. */
export const canonicalQuantity = (text: string | number): string => parseQuantity(String(text)).canonical

/** Whether `text` is a quantity. */
export function isQuantity(text: string | number): boolean {
  try {
    parseQuantity(String(text))
    return true
  } catch {
    return false
  }
}

/** Less than 0, 0 or more than 0, as `a` is smaller than, equal to or greater than `b`. */
export function compareQuantities(a: string, b: string): number {
  if (a === b) return 0
  const x = parseQuantity(a).nano
  const y = parseQuantity(b).nano
  return x < y ? -1 : x > y ? 1 : 0
}

/** -1, 0 or 1. */
export function signOf(text: string): number {
  const { nano } = parseQuantity(text)
  return nano < 0n ? -1 : nano > 0n ? 1 : 0
}

/** The sum, written in the format of `a` (of `b` if `a` is zero). */
export function addQuantities(a: string, b: string): string {
  const x = parseQuantity(a)
  const y = parseQuantity(b)
  return write(x.nano + y.nano, x.nano === 0n ? y.format : x.format)
}

/** What is left of `a` without `b`, written in the format of `a`. */
export function subtractQuantities(a: string, b: string): string {
  const x = parseQuantity(a)
  return write(x.nano - parseQuantity(b).nano, x.format)
}

/** The canonical text, rounded up to thousandths: lists of resources hold nothing finer. */
export function milliQuantity(text: string | number): string {
  const { nano, canonical, format } = parseQuantity(String(text))
  const rest = nano % 1_000_000n
  if (rest === 0n) return canonical
  return write(nano - rest + (nano < 0n ? -1_000_000n : 1_000_000n), format)
}

/** Whether the amount has no fraction. */
export const isWhole = (text: string): boolean => parseQuantity(text).nano % giga === 0n

/** The amount rounded up to whole units, as Go's `Value()`. */
export function wholeValue(text: string): bigint {
  const { nano } = parseQuantity(text)
  const whole = nano / giga
  return nano % giga > 0n ? whole + 1n : whole
}

/** The amount rounded up to thousandths, as Go's `MilliValue()`. */
export function milliValue(text: string): bigint {
  const { nano } = parseQuantity(text)
  const whole = nano / 1_000_000n
  return nano % 1_000_000n > 0n ? whole + 1n : whole
}

/**
 * In two steps, each of which has one way to match: digits that could stand in two places would be tried in all of
 * them.
 */
const amountShape = /^([+-]?)(\d*)(?:\.(\d*))?(.*)$/s
const suffixShape = /^([eEinumkKMGTP]*)([-+]?\d*)$/

/** Beyond so many digits nothing is left of the rest but whether there is anything. */
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
  // Beyond these powers nothing but zero and the cap is left.
  const tens = Math.max(-256, Math.min(64, (base === 2 ? 0 : exponent) + dropped - fraction.length + 9))
  const amount = capped(tens >= 0 ? scaled * 10n ** BigInt(tens) : roundedUp(scaled, 10n ** BigInt(-tens)))
  const nano = sign === '-' ? -amount : amount
  // Fractions of a byte are shown in thousandths.
  const shown = format === 'binary' && nano > 0n && nano < giga ? 'decimal' : format
  return { nano, canonical: write(nano, shown), format: shown }
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
  // Powers go in steps of three: what is over stays with the digits.
  const over = zeros % 3
  const exponent = zeros - over - 9
  const digits = text.slice(0, end + over)
  if (format === 'exponent') return `${sign}${digits}${exponent === 0 ? '' : `e${exponent}`}`
  const step = exponent / 3 + 3
  return step < decimalSuffixes.length
    ? `${sign}${digits}${decimalSuffixes[step]}`
    : `${sign}${digits}${'0'.repeat(3 * (step - decimalSuffixes.length + 1))}E`
}
