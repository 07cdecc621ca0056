/** Parsers for values of Go's flags, with the error messages of Go. */
import { isIP } from 'node:net'
import { goDurationMs as parseDuration } from './go-duration.ts'

/** The error for an invalid value, with Go's message. */
export class ValueError extends Error {}

const quoted = (text: string): string => JSON.stringify(text)

/** strconv.ParseBool. */
export function goBool(text: string): boolean {
  if (['1', 't', 'T', 'TRUE', 'true', 'True'].includes(text)) return true
  if (['0', 'f', 'F', 'FALSE', 'false', 'False'].includes(text)) return false
  throw new ValueError(`strconv.ParseBool: parsing ${quoted(text)}: invalid syntax`)
}

/** strconv.ParseInt with base 0 and 64 bits. Inexact beyond 2^53, which no flag needs. */
export function goInt(text: string): number {
  if (!/^[+-]?(?:0[xX][0-9a-fA-F_]+|0[oO]?[0-7_]*|0[bB][01_]+|[1-9][0-9_]*)$/.test(text))
    throw new ValueError(`strconv.ParseInt: parsing ${quoted(text)}: invalid syntax`)
  const [, sign = '', digits = ''] = /^([+-]?)(.*)$/.exec(text.replaceAll('_', '')) ?? []
  const value = BigInt(/^0[0-7]+$/.test(digits) ? `0o${digits.slice(1)}` : digits.toLowerCase())
  if (value >= 2n ** 63n) throw new ValueError(`strconv.ParseInt: parsing ${quoted(text)}: value out of range`)
  return Number(sign === '-' ? -value : value)
}

/** strconv.ParseFloat. */
export function goFloat(text: string): number {
  if (!/^[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?$/.test(text))
    throw new ValueError(`strconv.ParseFloat: parsing ${quoted(text)}: invalid syntax`)
  return Number(text)
}

/** time.ParseDuration, in ms. */
export function goDurationMs(text: string): number {
  try {
    return parseDuration(text)
  } catch (error) {
    throw new ValueError((error as Error).message)
  }
}

export function goIp(text: string): string {
  const trimmed = text.trim()
  if (trimmed !== '' && isIP(trimmed) === 0) throw new ValueError(`failed to parse IP: ${quoted(text)}`)
  return trimmed
}

/** A line of CSV, as pflag splits lists. */
export function goList(text: string): string[] {
  if (text === '') return []
  const fields: string[] = []
  const field = /(?:"((?:[^"]|"")*)"|([^",]*))(,|$)/y
  for (;;) {
    const match = field.exec(text)
    if (!match) throw new ValueError(`parse error on line 1, column ${field.lastIndex + 1}: bare " in non-quoted field`)
    fields.push(match[1]?.replaceAll('""', '"') ?? match[2] ?? '')
    if (match[3] === '') return fields
  }
}

/** `key=value,key=value`. */
export function goMap(text: string): [string, string][] {
  return goList(text).map((pair) => {
    const at = pair.indexOf('=')
    if (at < 0) throw new ValueError(`${pair} must be formatted as key=value`)
    return [pair.slice(0, at), pair.slice(at + 1)]
  })
}

/** `key=value`; the value may contain commas. */
export function goPair(text: string): [string, string] {
  const at = text.indexOf('=')
  if (at < 0) throw new ValueError('malformed pair, expect string=string')
  return [text.slice(0, at).trim(), text.slice(at + 1).trim()]
}

/** `--runtime-config`: a map; a key without a value has an empty one. */
export const configurationMap = (text: string): [string, string][] =>
  text
    .split(',')
    .filter((pair) => pair !== '')
    .map((pair) => {
      const at = pair.indexOf('=')
      return at < 0 ? [pair.trim(), ''] : [pair.slice(0, at).trim(), pair.slice(at + 1).trim()]
    })

export interface NamedCertKey {
  readonly certFile: string
  readonly keyFile: string
  readonly names: readonly string[]
}

/** `foo.crt,foo.key` or `foo.crt,foo.key:*.foo.com,foo.com`. */
export function namedCertKey(text: string): NamedCertKey {
  const [, files = '', names] = /^([^:]*)(?::([\s\S]*))?$/.exec(text) ?? []
  if (names?.trim() === '') throw new ValueError('empty names list is not allowed')
  const [certFile = '', keyFile, ...more] = files.split(',').map((file) => file.trim())
  if (keyFile === undefined || more.length > 0)
    throw new ValueError('expected comma separated certificate and key file paths')
  return { certFile, keyFile, names: names?.split(',').map((name) => name.trim()) ?? [] }
}

/** `30000-32767`, `30000+2767` or one port; '' for none. */
export function portRange(text: string): string {
  const value = text.trim()
  if (value === '') return ''
  const [, low = '', sign = '', high = ''] = /^([^+-]*)([+-]?)(.*)$/.exec(value) ?? []
  if (/[+-]/.test(high)) throw new ValueError(`unable to parse port range: ${value}`)
  const first = port(low)
  const last = sign === '' ? first : sign === '+' ? first + port(high) : port(high)
  if (first > 65_535 || last > 65_535) throw new ValueError(`the port range cannot be greater than 65535: ${value}`)
  if (last < first) throw new ValueError(`end port cannot be less than start port: ${value}`)
  return `${first}-${last}`
}

function port(text: string): number {
  if (!/^[+-]?\d+$/.test(text)) throw new ValueError(`strconv.Atoi: parsing ${quoted(text)}: invalid syntax`)
  return Number(text)
}
