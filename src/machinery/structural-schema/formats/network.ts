/** Formats of addresses, host names, URIs and email. */
import { isIP, isIPv4, isIPv6 } from 'node:net'

/** Accepts what Go's net.ParseIP accepts: no zones. */
const isIpWithoutZone = (text: string): boolean => isIP(text) !== 0 && !text.includes('%')

export const isIPv4Format = (text: string): boolean => isIPv4(text)

/** Any address with a colon, also an IPv4-mapped one. */
export const isIPv6Format = (text: string): boolean => isIpWithoutZone(text) && text.includes(':')

export function isCidr(text: string): boolean {
  const slash = text.lastIndexOf('/')
  const address = text.slice(0, slash)
  const bits = text.slice(slash + 1)
  if (slash < 0 || !isIpWithoutZone(address) || !/^(0|[1-9]\d{0,2})$/.test(bits)) return false
  return Number(bits) <= (isIPv6(address) ? 128 : 32)
}

/** 6, 8 or 20 bytes in hexadecimal, in the syntax of Go's net.ParseMAC. */
export const isMac = (text: string): boolean =>
  [6, 8, 20].some((bytes) => {
    const more = `{${bytes - 1}}`
    if (
      new RegExp(`^[0-9a-f]{2}(:[0-9a-f]{2})${more}$`, 'i').test(text) ||
      new RegExp(`^[0-9a-f]{2}(-[0-9a-f]{2})${more}$`, 'i').test(text)
    )
      return true
    return new RegExp(`^[0-9a-f]{4}(\\.[0-9a-f]{4}){${bytes / 2 - 1}}$`, 'i').test(text)
  })

const label = /^[a-zA-Z0-9\p{S}\p{L}](?:[a-zA-Z0-9\-\p{S}\p{L}]{0,61}[a-zA-Z0-9\p{S}\p{L}])?$/u
const lastLabel = /^[a-zA-Z0-9\p{S}\p{L}](?:-?[a-zA-Z0-9\p{S}\p{L}]){1,62}$/u
const onlyLabel = /^[a-zA-Z0-9\p{S}\p{L}](?:-?[a-zA-Z0-9\p{S}\p{L}]{0,62})?$/u

/** RFC 1034 names whose labels may begin with digits and have symbols. The last of several needs two characters. */
export function isHostname(text: string): boolean {
  const bytes = Buffer.byteLength(text)
  if (bytes > 255) return false
  const labels = text.split('.')
  if (labels.some((it) => Buffer.byteLength(it) > 63)) return false
  const last = labels.pop() ?? ''
  return labels.length === 0 ? onlyLabel.test(last) : labels.every((it) => label.test(it)) && lastLabel.test(last)
}

const unescapable = /%(?![0-9a-fA-F]{2})/
// biome-ignore lint/suspicious/noControlCharactersInRegex: URIs must not contain them.
const control = /[\u0000-\u001f\u007f]/

/** Accepts what Go's url.ParseRequestURI accepts: an absolute URI or an absolute path. */
export function isRequestUri(text: string): boolean {
  if (text === '' || control.test(text)) return false
  if (text === '*') return true
  const scheme = /^([a-zA-Z][a-zA-Z0-9+.-]*):/.exec(text)
  if (!scheme && (!text.startsWith('/') || text.startsWith(':'))) return false
  const rest = scheme ? text.slice(scheme[0].length) : text
  const path = rest.split('?', 1)[0] ?? ''
  if (scheme && !rest.startsWith('/')) return rest !== ''
  if (!rest.startsWith('//') || (!scheme && rest.startsWith('///'))) return !unescapable.test(path)
  const authority = /^\/\/([^/?]*)/.exec(rest)?.[1] ?? ''
  return isAuthority(authority) && !unescapable.test(path.slice(2 + authority.length))
}

function isAuthority(text: string): boolean {
  const at = text.lastIndexOf('@')
  if (at >= 0 && (!/^[A-Za-z0-9\-._:~!$&'()*+,;=%@]*$/.test(text.slice(0, at)) || unescapable.test(text.slice(0, at))))
    return false
  const host = text.slice(at + 1)
  if (host.startsWith('[')) return /^\[[^\]]*\](:\d*)?$/.test(host)
  const colon = host.lastIndexOf(':')
  const name = colon < 0 ? host : host.slice(0, colon)
  return (
    (colon < 0 || /^\d*$/.test(host.slice(colon + 1))) &&
    !/[ <>"\\^`{|}]/.test(name) &&
    !/%(?!25|[89A-Fa-f][0-9A-Fa-f])/.test(name)
  )
}

const atom = "[A-Za-z0-9!#$%&'*+\\-/=?^_`{|}~\\u0080-\\u{10ffff}]+"
const local = new RegExp(`^(?:${atom}(?:\\.${atom})*|"(?:[^"\\\\\\r\\n]|\\\\.)*")$`, 'u')
const domain = new RegExp(`^(?:${atom}(?:\\.${atom})*|\\[[^\\[\\]\\\\]*\\])$`, 'u')
const words = new RegExp(`^(?:(?:${atom}|\\.|"(?:[^"\\\\]|\\\\.)*")[ \\t]*)*$`, 'u')

/** Accepts what Go's mail.ParseAddress accepts: an address, or one in angle brackets after a name. */
export function isEmail(text: string): boolean {
  const trimmed = text.trim()
  const bracket = /^(.*)<([^<>]*)>$/s.exec(trimmed)
  if (bracket && !words.test((bracket[1] ?? '').trim())) return false
  const address = bracket ? (bracket[2] ?? '').trim() : trimmed
  const at = address.lastIndexOf('@')
  return at > 0 && local.test(address.slice(0, at)) && domain.test(address.slice(at + 1))
}
