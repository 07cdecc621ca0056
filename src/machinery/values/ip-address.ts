/**
 * IP addresses and ranges, parsed as strictly as by Go's net/netip and with its messages. Unlike `lib/cidr.ts`, which
 * parses flags, it retains the bits after the prefix and reports the reason of an error.
 */
import { goQuote } from '../../lib/go/go-quote.ts'

export interface IpAddress {
  readonly family: 4 | 6
  readonly value: bigint
  /** The zone of an IPv6 address (`fe80::1%eth0`), empty if it has none. */
  readonly zone: string
}

export interface IpRange {
  readonly address: IpAddress
  readonly bits: number
}

/** The text is not an address or not a range. The message is Go's. */
export class IpError extends Error {
  constructor(message: string) {
    super(message)
    this.name = 'IpError'
  }
}

const bad = (text: string, what: string, at = ''): IpError =>
  new IpError(`ParseAddr(${goQuote(text)}): ${what}${at === '' ? '' : ` (at ${goQuote(at)})`}`)

/** Parses an address. Throws IpError. */
export function parseIpAddress(text: string): IpAddress {
  const mark = /[.:%]/.exec(text)?.[0]
  if (mark === '.') return { family: 4, value: ipv4Value(text, text), zone: '' }
  if (mark === ':') return parseIpv6(text)
  throw bad(text, mark === '%' ? 'missing IPv6 address' : 'unable to parse IP')
}

/** Parses `ADDRESS/BITS` and retains the bits after the prefix. Throws IpError. */
export function parseIpRange(text: string): IpRange {
  const wrong = (what: string): IpError => new IpError(`netip.ParsePrefix(${goQuote(text)}): ${what}`)
  const slash = text.lastIndexOf('/')
  if (slash < 0) throw wrong("no '/'")
  const address = addressOf(text.slice(0, slash), wrong)
  if (address.zone !== '') throw wrong('IPv6 zones cannot be present in a prefix')
  const digits = text.slice(slash + 1)
  if (!/^(0|[1-9][0-9]{0,17})$/.test(digits)) throw wrong(`bad bits after slash: ${goQuote(digits)}`)
  const bits = Number(digits)
  if (bits > bitLength(address)) throw wrong('prefix length out of range')
  return { address, bits }
}

function addressOf(text: string, wrong: (what: string) => IpError): IpAddress {
  try {
    return parseIpAddress(text)
  } catch (error) {
    if (error instanceof IpError) throw wrong(error.message)
    throw error
  }
}

/** The number of bits of an address of this family. */
export const bitLength = ({ family }: IpAddress): 32 | 128 => (family === 4 ? 32 : 128)

/** Returns true for an IPv4 address written as IPv6 (`::ffff:1.2.3.4`). */
export const isMapped = ({ family, value }: IpAddress): boolean => family === 6 && value >> 32n === 0xffffn

/** Parses `part` in dotted form. Error messages show the whole `text`. */
function ipv4Value(part: string, text: string): bigint {
  let value = 0
  let fields = 0
  let result = 0n
  let digits = 0
  for (let i = 0; i < part.length; i++) {
    const code = part.charCodeAt(i) - 48
    if (code >= 0 && code <= 9) {
      if (digits === 1 && value === 0) throw bad(text, 'IPv4 field has octet with leading zero')
      value = value * 10 + code
      digits++
      if (value > 255) throw bad(text, 'IPv4 field has value >255')
    } else if (part[i] === '.') {
      if (i === 0 || i === part.length - 1 || part[i - 1] === '.')
        throw bad(text, 'IPv4 field must have at least one digit', part.slice(i))
      if (fields === 3) throw bad(text, 'IPv4 address too long')
      result = (result << 8n) | BigInt(value)
      fields++
      value = digits = 0
    } else throw bad(text, 'unexpected character', part.slice(i))
  }
  if (fields < 3) throw bad(text, 'IPv4 address too short')
  return (result << 8n) | BigInt(value)
}

function parseIpv6(text: string): IpAddress {
  const percent = text.indexOf('%')
  const zone = percent < 0 ? '' : text.slice(percent + 1)
  if (percent >= 0 && zone === '') throw bad(text, 'zone must be a non-empty string')
  let rest = percent < 0 ? text : text.slice(0, percent)
  const fields: number[] = []
  let gap = -1
  if (rest.startsWith('::')) {
    gap = 0
    rest = rest.slice(2)
  }
  while (fields.length < 8 && !(rest === '' && gap === fields.length)) {
    const digits = hexDigits(rest, text)
    if (rest[digits] === '.') {
      if (gap < 0 && fields.length !== 6)
        throw bad(text, 'embedded IPv4 address must replace the final 2 fields of the address', rest)
      if (fields.length > 6)
        throw bad(text, 'too many hex fields to fit an embedded IPv4 at the end of the address', rest)
      const value = Number(ipv4Value(rest, text))
      fields.push(value >>> 16, value & 0xffff)
      rest = ''
      break
    }
    fields.push(Number.parseInt(rest.slice(0, digits), 16))
    rest = rest.slice(digits)
    if (rest === '') break
    if (rest[0] !== ':') throw bad(text, 'unexpected character, want colon', rest)
    if (rest.length === 1) throw bad(text, 'colon must be followed by more characters', rest)
    rest = rest.slice(1)
    if (rest[0] === ':') {
      if (gap >= 0) throw bad(text, 'multiple :: in address', rest)
      gap = fields.length
      rest = rest.slice(1)
    }
  }
  if (rest !== '') throw bad(text, 'trailing garbage after address', rest)
  if (fields.length < 8) {
    if (gap < 0) throw bad(text, 'address string too short')
    fields.splice(gap, 0, ...Array<number>(8 - fields.length).fill(0))
  } else if (gap >= 0) throw bad(text, 'the :: must expand to at least one field of zeros')
  return { family: 6, value: fields.reduce((sum, field) => (sum << 16n) | BigInt(field), 0n), zone }
}

/** Returns the number of hexadecimal digits at the start of `rest`: one to four. */
function hexDigits(rest: string, text: string): number {
  let digits = 0
  while (digits < rest.length && /[0-9a-fA-F]/.test(rest[digits] ?? '')) {
    if (digits > 3) throw bad(text, 'each group must have 4 or less digits', rest)
    digits++
  }
  if (digits === 0) throw bad(text, 'each colon-separated field must have at least one digit', rest)
  return digits
}

/** The canonical text (RFC 5952 for IPv6). */
export function ipText({ family, value, zone }: IpAddress): string {
  if (family === 4) return [24n, 16n, 8n, 0n].map((shift) => (value >> shift) & 255n).join('.')
  const fields = Array.from({ length: 8 }, (_, i) => ((value >> BigInt(112 - 16 * i)) & 0xffffn).toString(16))
  const [start, length] = longestZeros(fields)
  const text =
    length < 2 ? fields.join(':') : `${fields.slice(0, start).join(':')}::${fields.slice(start + length).join(':')}`
  return zone === '' ? text : `${text}%${zone}`
}

/** Returns the start and length of the first of the longest runs of zeros. */
function longestZeros(fields: readonly string[]): readonly [number, number] {
  let best: readonly [number, number] = [0, 0]
  for (let i = 0; i < fields.length; i++) {
    let end = i
    while (fields[end] === '0') end++
    if (end - i > best[1]) best = [i, end - i]
    i = Math.max(i, end)
  }
  return best
}

export const rangeText = ({ address, bits }: IpRange): string => `${ipText(address)}/${bits}`

/** Clears the bits after the prefix. */
export function masked({ address, bits }: IpRange): IpRange {
  const rest = BigInt(bitLength(address) - bits)
  return { address: { ...address, value: (address.value >> rest) << rest }, bits }
}

/** Returns true if the address is in the range. */
export function rangeContains({ address, bits }: IpRange, other: IpAddress): boolean {
  const rest = BigInt(bitLength(address) - bits)
  return address.family === other.family && address.value >> rest === other.value >> rest
}

/** `0.0.0.0` or `::`. */
export const isUnspecified = ({ value }: IpAddress): boolean => value === 0n

/** `127.x.x.x` or `::1`. */
export const isLoopback = ({ family, value }: IpAddress): boolean =>
  family === 4 ? value >> 24n === 127n : value === 1n

/** `224.x.x.x` to `239.x.x.x`, or `ff00::/8`. */
const isMulticast = ({ family, value }: IpAddress): boolean =>
  family === 4 ? value >> 28n === 0xen : value >> 120n === 0xffn

/** `224.0.0.x`, or link-local scope of `ff00::/8`. */
export const isLinkLocalMulticast = ({ family, value }: IpAddress): boolean =>
  family === 4 ? value >> 8n === 0xe00000n : ((value >> 112n) & 0xff0fn) === 0xff02n

/** `169.254.x.x` or `fe80::/10`. */
export const isLinkLocalUnicast = ({ family, value }: IpAddress): boolean =>
  family === 4 ? value >> 16n === 0xa9fen : value >> 118n === 0x3fan

/** Not unspecified, loopback, multicast, link-local or IPv4's broadcast address. Private addresses are global, too. */
export const isGlobalUnicast = (address: IpAddress): boolean =>
  !(address.family === 4 && address.value === 0xffffffffn) &&
  !isUnspecified(address) &&
  !isLoopback(address) &&
  !isMulticast(address) &&
  !isLinkLocalUnicast(address)
