/** Formats of numbers with a fixed count of digits: ISBNs, credit cards, UUIDs. */

/** Returns the check for UUIDs of a version. An empty version accepts all. */
export function isUuid(version: '' | '3' | '4' | '5'): (text: string) => boolean {
  const variant = version === '4' || version === '5' ? '[89ab][0-9a-f]{3}' : '[0-9a-f]{4}'
  const third = version === '' ? '[0-9a-f]{4}' : `${version}[0-9a-f]{3}`
  const pattern = new RegExp(`^[0-9a-f]{8}-?[0-9a-f]{4}-?${third}-?${variant}-?[0-9a-f]{12}$`, 'i')
  return (text) => pattern.test(text)
}

const separators = /[\s-]+/g

export function isIsbn10(text: string): boolean {
  const digits = text.replace(separators, '')
  if (!/^\d{9}[\dX]$/.test(digits)) return false
  let sum = 0
  for (let i = 0; i < 9; i++) sum += (i + 1) * Number(digits[i])
  sum += 10 * (digits[9] === 'X' ? 10 : Number(digits[9]))
  return sum % 11 === 0
}

export function isIsbn13(text: string): boolean {
  const digits = text.replace(separators, '')
  if (!/^\d{13}$/.test(digits)) return false
  let sum = 0
  for (let i = 0; i < 12; i++) sum += (i % 2 === 0 ? 1 : 3) * Number(digits[i])
  return (10 - (sum % 10)) % 10 === Number(digits[12])
}

const cards = new RegExp(
  '^(?:4[0-9]{12}(?:[0-9]{3})?|5[1-5][0-9]{14}|6(?:011|5[0-9][0-9])[0-9]{12}' +
    String.raw`|3[47][0-9]{13}|3(?:0[0-5]|[68][0-9])[0-9]{11}|(?:2131|1800|35\d{3})\d{11})$`,
)

/** The digits of a card with a valid check digit (Luhn). Other characters are ignored. */
export function isCreditCard(text: string): boolean {
  const digits = text.replace(/[^0-9]+/g, '')
  if (!cards.test(digits)) return false
  let sum = 0
  for (let i = digits.length - 1, double = false; i >= 0; i--, double = !double) {
    const digit = Number(digits[i]) * (double ? 2 : 1)
    sum += digit > 9 ? digit - 9 : digit
  }
  return sum % 10 === 0
}
