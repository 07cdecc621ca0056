/**
 * URLs as Go's net/url parses them: laxer than WHATWG's in some places (any scheme, no normalisation), stricter in
 * others, with Go's messages. Strings hold UTF-8 bytes, one character each, because percent-encoding encodes bytes.
 */
import { Buffer } from 'node:buffer'
import { goQuote } from '../../lib/go/go-quote.ts'
import { IpError, parseIpAddress } from './ip-address.ts'

export interface GoUrl {
  readonly scheme: string
  /** Host and port, unescaped, with the brackets of IPv6 addresses. */
  readonly host: string
  readonly hostname: string
  readonly port: string
  readonly escapedPath: string
  /** The values of each key, unescaped, in their order. Malformed pairs are omitted. */
  readonly query: ReadonlyMap<string, readonly string[]>
  /** Equal for equal URLs. */
  readonly identity: string
}

/** The text is not a URL. The message is Go's. */
export class UrlError extends Error {
  constructor(message: string) {
    super(message)
    this.name = 'UrlError'
  }
}

/** Checks that the text is an absolute URI or an absolute path, as the format `uri` requires. Throws UrlError. */
export function checkRequestUri(text: string): void {
  parse(text, bytesOf(text), true)
}

/** Parses any URI reference. Throws UrlError. */
export function parseUrl(text: string): GoUrl {
  const hash = text.indexOf('#')
  const beforeFragment = hash < 0 ? text : text.slice(0, hash)
  const parts = parse(beforeFragment, bytesOf(beforeFragment), false)
  const rawFragment = hash < 0 ? '' : bytesOf(text.slice(hash + 1))
  const fragment = withUrl(text, () => unescaped(rawFragment, 'fragment'))
  const { host, path } = parts
  const [hostname, port] = splitPort(host)
  const escapedPath = preserved(parts.rawPath, path, 'path') ?? (path === '*' ? '*' : percentEncoded(path, 'path'))
  const escapedFragment = preserved(rawFragment, fragment, 'fragment') ?? percentEncoded(fragment, 'fragment')
  return {
    scheme: parts.scheme,
    host: textOf(host),
    hostname: textOf(hostname),
    port,
    escapedPath: textOf(escapedPath),
    query: queryOf(parts.query),
    identity: textOf(
      JSON.stringify([
        parts.scheme,
        parts.opaque,
        parts.user,
        host,
        escapedPath,
        parts.query,
        parts.forceQuery,
        escapedFragment,
      ]),
    ),
  }
}

interface Parts {
  readonly scheme: string
  readonly opaque: string
  readonly user: string | undefined
  readonly host: string
  readonly path: string
  readonly rawPath: string
  readonly query: string
  readonly forceQuery: boolean
}

type Place = 'path' | 'host' | 'zone' | 'user' | 'query' | 'fragment'

const bytesOf = (text: string): string => Buffer.from(text, 'utf8').toString('latin1')
const textOf = (bytes: string): string => Buffer.from(bytes, 'latin1').toString('utf8')

/** An error without the operation and the URL that Go puts before every message. */
class Fault {
  readonly message: string
  constructor(message: string) {
    this.message = message
  }
}

/** Runs `read`; converts a Fault to an UrlError that names the URL. */
function withUrl<T>(url: string, read: () => T): T {
  try {
    return read()
  } catch (error) {
    if (error instanceof Fault) throw new UrlError(`parse ${goQuote(url)}: ${error.message}`)
    throw error
  }
}

const parse = (url: string, bytes: string, request: boolean): Parts => withUrl(url, () => partsOf(bytes, request))

function partsOf(url: string, request: boolean): Parts {
  const nothing: Parts = {
    scheme: '',
    opaque: '',
    user: undefined,
    host: '',
    path: '',
    rawPath: '',
    query: '',
    forceQuery: false,
  }
  // biome-ignore lint/suspicious/noControlCharactersInRegex: a URL must not contain these characters
  if (/[\x00-\x1f\x7f]/.test(url)) throw new Fault('net/url: invalid control character in URL')
  if (url === '' && request) throw new Fault('empty url')
  if (url === '*') return { ...nothing, path: '*', rawPath: '*' }
  const [scheme, afterScheme] = splitScheme(url)
  const mark = afterScheme.indexOf('?')
  const forceQuery = mark >= 0 && mark === afterScheme.length - 1
  const query = mark < 0 ? '' : afterScheme.slice(mark + 1)
  const rest = mark < 0 ? afterScheme : afterScheme.slice(0, mark)
  const common = { ...nothing, scheme, query, forceQuery }
  if (!rest.startsWith('/')) {
    if (scheme !== '') return { ...common, opaque: rest }
    if (request) throw new Fault('invalid URI for request')
    if (rest.split('/', 1)[0]?.includes(':')) throw new Fault('first path segment in URL cannot contain colon')
  }
  if (!rest.startsWith('//') || (scheme === '' && (request || rest.startsWith('///')))) {
    return { ...common, path: unescaped(rest, 'path'), rawPath: rest }
  }
  const end = rest.indexOf('/', 2)
  const authority = end < 0 ? rest.slice(2) : rest.slice(2, end)
  const rawPath = end < 0 ? '' : rest.slice(end)
  return { ...common, ...authorityOf(authority), path: unescaped(rawPath, 'path'), rawPath }
}

/** Splits the scheme, in lower case, from the rest. */
function splitScheme(url: string): readonly [string, string] {
  if (url.startsWith(':')) throw new Fault('missing protocol scheme')
  const scheme = /^([a-zA-Z][a-zA-Z0-9+.-]*):/.exec(url)?.[1]
  return scheme === undefined ? ['', url] : [scheme.toLowerCase(), url.slice(scheme.length + 1)]
}

function authorityOf(authority: string): Pick<Parts, 'user' | 'host'> {
  const at = authority.lastIndexOf('@')
  const host = hostOf(authority.slice(at + 1))
  if (at < 0) return { user: undefined, host }
  const user = authority.slice(0, at)
  if (!/^[A-Za-z0-9\-._:~!$&'()*+,;=%@]*$/.test(user)) throw new Fault('net/url: invalid userinfo')
  const colon = user.indexOf(':')
  const parts = colon < 0 ? [user] : [user.slice(0, colon), user.slice(colon + 1)]
  return { user: parts.map((part) => percentEncoded(unescaped(part, 'user'), 'user')).join(':'), host }
}

function hostOf(host: string): string {
  const open = host.lastIndexOf('[')
  if (open < 0) {
    // Only an address in brackets may contain colons.
    if (host.includes(':')) checkPort(host.slice(host.indexOf(':')))
    return unescaped(host, 'host')
  }
  const close = host.lastIndexOf(']')
  if (close < 0) throw new Fault("missing ']' in host")
  const port = host.slice(close + 1)
  checkPort(port)
  const literal = host.slice(open + 1, close)
  const zone = literal.indexOf('%25')
  const address =
    zone < 0
      ? unescaped(literal, 'host')
      : unescaped(literal.slice(0, zone), 'host') + unescaped(literal.slice(zone), 'zone')
  if (open > 0 || familyOf(address) === 4) throw new Fault('invalid IP-literal')
  return `[${address}]${port}`
}

function familyOf(address: string): 4 | 6 {
  try {
    return parseIpAddress(textOf(address)).family
  } catch (error) {
    if (error instanceof IpError) throw new Fault(`invalid host: ${error.message}`)
    throw error
  }
}

function checkPort(port: string): void {
  if (!/^(:[0-9]*)?$/.test(port)) throw new Fault(`invalid port ${goQuote(textOf(port))} after host`)
}

/** Splits host and port, and removes brackets. */
function splitPort(host: string): readonly [string, string] {
  const [, name = host, port = ''] = /^(.*):([0-9]*)$/s.exec(host) ?? []
  return [name.startsWith('[') && name.endsWith(']') ? name.slice(1, -1) : name, port]
}

function queryOf(query: string): ReadonlyMap<string, readonly string[]> {
  const found = new Map<string, string[]>()
  for (const pair of query.split('&')) {
    if (pair === '' || pair.includes(';')) continue
    const equals = pair.indexOf('=')
    try {
      const key = textOf(unescaped(equals < 0 ? pair : pair.slice(0, equals), 'query'))
      const value = equals < 0 ? '' : textOf(unescaped(pair.slice(equals + 1), 'query'))
      const values = found.get(key)
      if (values) values.push(value)
      else found.set(key, [value])
    } catch (error) {
      if (!(error instanceof Fault)) throw error
    }
  }
  return found
}

const notInHosts = /[^A-Za-z0-9\-_.~!$&'()*+,;=:[\]<>"\x80-\xff%]/

function unescaped(text: string, place: Place): string {
  const inHost = place === 'host' || place === 'zone'
  const strange = inHost ? notInHosts.exec(text) : null
  const percent = /%(?![0-9A-Fa-f]{2})/.exec(text)
  if (strange && (!percent || strange.index < percent.index))
    throw new Fault(`invalid character ${goQuote(strange[0])} in host name`)
  if (percent) throw new Fault(`invalid URL escape ${goQuote(textOf(text.slice(percent.index, percent.index + 3)))}`)
  const spaced = place === 'query' ? text.replaceAll('+', ' ') : text
  return spaced.replace(/%([0-9A-Fa-f]{2})/g, (encoded, digits: string) => {
    const byte = String.fromCharCode(Number.parseInt(digits, 16))
    // Hosts may escape only characters beyond ASCII; zones only `%`, spaces and characters that need no escape.
    if (
      (place === 'host' && byte < '\x80' && encoded !== '%25') ||
      (place === 'zone' && encoded !== '%25' && byte !== ' ' && needsEscape(byte, 'host'))
    )
      throw new Fault(`invalid URL escape ${goQuote(encoded)}`)
    return byte
  })
}

const unreserved = /[A-Za-z0-9\-_.~]/
const allowed: Readonly<Record<Place, RegExp>> = {
  path: /[$&+,/:;=@]/,
  host: /[!$&'()*+,;=:[\]<>"]/,
  zone: /[!$&'()*+,;=:[\]<>"]/,
  user: /[$&+,;=]/,
  query: /[^\s\S]/,
  fragment: /[$&+,/:;=?@!()*]/,
}

const needsEscape = (byte: string, place: Place): boolean => !unreserved.test(byte) && !allowed[place].test(byte)

function percentEncoded(bytes: string, place: Place): string {
  let text = ''
  for (const byte of bytes)
    text += needsEscape(byte, place) ? `%${byte.charCodeAt(0).toString(16).toUpperCase().padStart(2, '0')}` : byte
  return text
}

/** Returns the original escaped form if it is valid, so that `%2F` in a path remains. */
function preserved(raw: string, decoded: string, place: Place): string | undefined {
  if (raw === '') return undefined
  for (const byte of raw) if (!/[!$&'()*+,;=:@[\]%]/.test(byte) && needsEscape(byte, place)) return undefined
  return unescaped(raw, place) === decoded ? raw : undefined
}
