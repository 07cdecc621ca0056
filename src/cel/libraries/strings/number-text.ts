/** The doubles of `format()`: `%f` and `%e` in English notation, and the form in lists and maps. */
import { formatDouble } from '../../standard/double-text.ts'

/** Formats with `precision` digits after the point, and commas between thousands: `1,234.50`. */
export function fixedText(value: number, precision: number): string {
  const special = specialText(value)
  if (special !== undefined) return special
  const digits = roundedDigits(value, precision)
  const whole = digits.slice(0, digits.length - precision).replace(/\B(?=(\d{3})+$)/g, ',')
  return `${sign(value)}${whole}${precision === 0 ? '' : `.${digits.slice(digits.length - precision)}`}`
}

/** Formats like fixedText, but without commas: the form of doubles in lists and maps. */
export function plainFixedText(value: number, precision: number): string {
  if (Number.isFinite(value)) return fixedText(value, precision).replaceAll(',', '')
  return formatDouble(value)
}

/** Formats with `precision` digits and a superscript power of ten, with narrow spaces: `1.05 × 10⁰³`. */
export function scientificText(value: number, precision: number): string {
  const special = specialText(value)
  if (special !== undefined) return special
  const { digits, exponent } = significant(value, precision + 1)
  const small = String(Math.abs(exponent))
    .padStart(2, '0')
    .replace(/\d/g, (digit) => superscript[Number(digit)] ?? '')
  const fraction = precision === 0 ? '' : `.${digits.slice(1)}`
  return `${sign(value)}${digits[0]}${fraction}\u202f×\u202f10${exponent < 0 ? '⁻' : ''}${small}`
}

const superscript = '⁰¹²³⁴⁵⁶⁷⁸⁹'

const sign = (value: number): string => (value < 0 || Object.is(value, -0) ? '-' : '')

function specialText(value: number): string | undefined {
  if (Number.isNaN(value)) return 'NaN'
  return Number.isFinite(value) ? undefined : `${sign(value)}∞`
}

/** Returns the exact mantissa and power of two of a double. */
function exact(value: number): { readonly mantissa: bigint; readonly power: number } {
  const bits = new DataView(new ArrayBuffer(8))
  bits.setFloat64(0, Math.abs(value))
  const word = bits.getBigUint64(0)
  const exponent = Number(word >> 52n)
  const fraction = word & (2n ** 52n - 1n)
  return exponent === 0
    ? { mantissa: fraction, power: -1074 }
    : { mantissa: fraction | (2n ** 52n), power: exponent - 1075 }
}

/** Returns `above / below`, rounded half to even. */
function divided(above: bigint, below: bigint): bigint {
  const quotient = above / below
  const twice = (above % below) * 2n
  return twice > below || (twice === below && quotient % 2n === 1n) ? quotient + 1n : quotient
}

/** A double has at most this many digits after the point. */
const maxFractionDigits = 1074

/** Returns the digits of |value|, rounded to `precision` after the point, with at least one before it. */
function roundedDigits(value: number, precision: number): string {
  const places = Math.min(precision, maxFractionDigits)
  const { mantissa, power } = exact(value)
  const tens = mantissa * 10n ** BigInt(places)
  const rounded = power >= 0 ? tens << BigInt(power) : divided(tens, 1n << BigInt(-power))
  return rounded.toString().padStart(places + 1, '0') + '0'.repeat(precision - places)
}

/** Returns the first `count` digits of |value|, rounded, and its power of ten. */
function significant(value: number, count: number): { readonly digits: string; readonly exponent: number } {
  if (value === 0) return { digits: '0'.repeat(count), exponent: 0 }
  const digitCount = Math.min(count, maxFractionDigits)
  const { mantissa, power } = exact(value)
  let exponent = Number(Math.abs(value).toExponential().split('e')[1])
  const shift = digitCount - 1 - exponent
  let above = mantissa
  let below = 1n
  if (shift >= 0) above *= 10n ** BigInt(shift)
  else below *= 10n ** BigInt(-shift)
  if (power >= 0) above <<= BigInt(power)
  else below <<= BigInt(-power)
  let digits = divided(above, below).toString()
  // 9.99 rounds up to 10.0, which has one digit more.
  if (digits.length > digitCount) {
    digits = digits.slice(0, digitCount)
    exponent++
  }
  return { digits: digits.padEnd(count, '0'), exponent }
}
