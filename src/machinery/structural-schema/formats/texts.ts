/** Formats of other strings: colours, dates, encoded bytes, names. */
import { dnsLabel, dnsSubdomain } from '../../validation/names.ts'

export const isObjectId = (text: string): boolean => /^[0-9a-fA-F]{24}$/.test(text)

export const isSsn = (text: string): boolean => /^\d{3}[- ]?\d{2}[- ]?\d{4}$/.test(text)

export const isHexColor = (text: string): boolean => /^#?(?:[0-9a-fA-F]{3}|[0-9a-fA-F]{6})$/.test(text)

const byte = '(0|[1-9]\\d?|1\\d\\d?|2[0-4]\\d|25[0-5])'
const rgb = new RegExp(`^rgb\\(\\s*${byte}\\s*,\\s*${byte}\\s*,\\s*${byte}\\s*\\)$`)
export const isRgbColor = (text: string): boolean => rgb.test(text)

/** Standard base64 with padding, not empty. */
export const isBase64 = (text: string): boolean =>
  text !== '' && text.length % 4 === 0 && /^[A-Za-z0-9+/]+={0,2}$/.test(text)

function isDay(year: number, month: number, day: number): boolean {
  if (month < 1 || month > 12 || day < 1) return false
  const last =
    month === 2
      ? year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0)
        ? 29
        : 28
      : [4, 6, 9, 11].includes(month)
        ? 30
        : 31
  return day <= last
}

const date = /^(\d{4})-(\d\d)-(\d\d)$/

/** RFC 3339's full-date. */
export function isDate(text: string): boolean {
  const match = date.exec(text)
  return match !== null && isDay(Number(match[1]), Number(match[2]), Number(match[3]))
}

const time = /^(\d\d):(\d\d):(\d\d)(?:\.\d+)?(?:z|[+-]\d\d:\d\d)$/i

/** RFC 3339's date-time. */
export function isDateTime(text: string): boolean {
  const [day = '', clock = '', ...more] = text.split(/t/i)
  if (more.length > 0 || !isDate(day)) return false
  const match = time.exec(clock)
  return match !== null && Number(match[1]) <= 23 && Number(match[2]) <= 59 && Number(match[3]) <= 59
}

/** A DNS label (1.34). */
export const isShortName = (text: string): boolean => dnsLabel(text).length === 0

/** A DNS subdomain (1.34). */
export const isLongName = (text: string): boolean => dnsSubdomain(text).length === 0
