/**
 * Rules for names and other short texts. Each is a function that returns upstream's messages (k8s.io/apimachinery
 * `validation`); an empty list means valid. They check texts only, not objects.
 */
import { isIPv4, isIPv6 } from 'node:net'
import { hasHostBits } from '../../lib/cidr.ts'

/** `generated`: the text is a generateName, which may end in a dash because a suffix follows. */
export type TextRule = (value: string, generated?: boolean) => string[]

const label1123 = '[a-z0-9]([-a-z0-9]*[a-z0-9])?'
const subdomain1123 = `${label1123}(\\.${label1123})*`
const label1035 = '[a-z]([-a-z0-9]*[a-z0-9])?'
const qualified = '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]'

const whole = (expression: string): RegExp => new RegExp(`^${expression}$`)

const underscoredLabel = '_?[a-z0-9]([-_a-z0-9]*[a-z0-9])?'

const label1123Pattern = whole(label1123)
const underscoredPattern = whole(`${underscoredLabel}(\\.${underscoredLabel})*`)
const subdomain1123Pattern = whole(subdomain1123)
const label1035Pattern = whole(label1035)
const qualifiedPattern = whole(qualified)
const labelValuePattern = whole(`(${qualified})?`)
const configMapKeyPattern = /^[-._a-zA-Z0-9]+$/
const httpHeaderPattern = /^[-A-Za-z0-9]+$/
const wildcardPattern = new RegExp(`^\\*\\.${subdomain1123}$`)
const portCharacters = /^[-a-z0-9]+$/
const portLetter = /[a-z]/
const unprintable = /[^\x20-\x7e]|=/

/** Returns the message of a rule with a regular expression: description, examples, expression. */
const mismatch = (words: string, expression: string, ...examples: string[]): string =>
  `${words} (e.g. ${examples.map((example) => `'${example}'`).join(',  or ')}, regex used for validation is ` +
  `'${expression}')`

const tooLongText = (max: number): string => `must be no more than ${max} characters`
/** Since 1.36, the messages for label keys and values name bytes; those for names still name characters. */
const tooManyBytes = (max: number): string => `must be no more than ${max} bytes`
const empty = 'must be non-empty'

const underscoredWords = mismatch(
  "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '_', '-' or '.', and must " +
    'start and end with an alphanumeric character',
  `${underscoredLabel}(\\.${underscoredLabel})*`,
  'example.com',
)
const subdomainWords = mismatch(
  "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start " +
    'and end with an alphanumeric character',
  subdomain1123,
  'example.com',
)
const labelWords = mismatch(
  "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end " +
    'with an alphanumeric character',
  label1123,
  'my-name',
  '123-abc',
)
const label1035Words = mismatch(
  "a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an alphabetic " +
    'character, and end with an alphanumeric character',
  label1035,
  'my-name',
  'abc-123',
)
const qualifiedWords = mismatch(
  "must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character",
  qualified,
  'MyName',
  'my.name',
  '123-abc',
)
const labelValueWords = mismatch(
  "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start " +
    'and end with an alphanumeric character',
  `(${qualified})?`,
  'MyValue',
  'my_value',
  '12345',
)
const configMapKeyWords = mismatch(
  "a valid config key must consist of alphanumeric characters, '-', '_' or '.'",
  '[-._a-zA-Z0-9]+',
  'key.name',
  'KEY_NAME',
  'key-name',
)
const wildcardWords = mismatch(
  "a wildcard DNS-1123 subdomain must start with '*.', followed by a valid DNS subdomain, which must consist of " +
    "lower case alphanumeric characters, '-' or '.' and end with an alphanumeric character",
  `\\*\\.${subdomain1123}`,
  '*.example.com',
)
const httpHeaderWords = mismatch(
  "a valid HTTP header must consist of alphanumeric characters or '-'",
  '[-A-Za-z0-9]+',
  'X-Header-Name',
)

/** Replaces the trailing dash of a generateName by a letter, because a suffix follows. */
const maskTrailingDash = (value: string, generated?: boolean): string =>
  generated && value.length > 1 && value.endsWith('-') ? `${value.slice(0, -2)}a` : value

/** The rule for most names: `example.com`, up to 253 characters. */
export function dnsSubdomain(value: string, generated?: boolean): string[] {
  const text = maskTrailingDash(value, generated)
  if (text.length <= 253 && subdomain1123Pattern.test(text)) return []
  return [
    ...(text.length > 253 ? [tooLongText(253)] : []),
    ...(subdomain1123Pattern.test(text) ? [] : [subdomainWords]),
  ]
}

/** Like dnsSubdomain, but parts may begin with and contain underscores. */
export const underscoredSubdomain: TextRule = (value) => [
  ...(value.length > 253 ? [tooLongText(253)] : []),
  ...(underscoredPattern.test(value) ? [] : [underscoredWords]),
]

/** Names that are one label of a DNS name (namespaces, containers): up to 63 characters, no dots. */
export function dnsLabel(value: string, generated?: boolean): string[] {
  const text = maskTrailingDash(value, generated)
  if (text.length <= 63 && label1123Pattern.test(text)) return []
  const errors = text.length > 63 ? [tooLongText(63)] : []
  if (!label1123Pattern.test(text)) errors.push(subdomain1123Pattern.test(text) ? 'must not contain dots' : labelWords)
  return errors
}

/** Like dnsLabel, but begins with a letter. */
export function dns1035Label(value: string, generated?: boolean): string[] {
  const text = maskTrailingDash(value, generated)
  if (text.length <= 63 && label1035Pattern.test(text)) return []
  return [...(text.length > 63 ? [tooLongText(63)] : []), ...(label1035Pattern.test(text) ? [] : [label1035Words])]
}

/** `*.example.com`. */
export const wildcardSubdomain: TextRule = (value) => [
  ...(value.length > 253 ? [tooLongText(253)] : []),
  ...(wildcardPattern.test(value) ? [] : [wildcardWords]),
]

/** Names that only have to be valid in a URL path: roles and bindings. */
export function pathSegment(value: string, generated?: boolean): string[] {
  if (!generated && (value === '.' || value === '..')) return [`may not be '${value}'`]
  if (!value.includes('/') && !value.includes('%')) return []
  return [
    ...(value.includes('/') ? ["may not contain '/'"] : []),
    ...(value.includes('%') ? ["may not contain '%'"] : []),
  ]
}

/** Keys of labels and annotations, finalizers, resource names: `name` or `example.com/name`. */
export function qualifiedName(value: string): string[] {
  const slash = value.indexOf('/')
  if (slash < 0) return namePart(value)
  if (value.indexOf('/', slash + 1) >= 0)
    return [
      `a valid label key ${qualifiedWords} with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')`,
    ]
  const prefix = value.slice(0, slash)
  const errors = prefix === '' ? [`prefix part ${empty}`] : prefixPart(prefix)
  const more = namePart(value.slice(slash + 1))
  return errors.length === 0 ? more : [...errors, ...more]
}

function prefixPart(text: string): string[] {
  const hasForm = subdomain1123Pattern.test(text)
  if (text.length <= 253 && hasForm) return []
  return [
    ...(text.length > 253 ? [`prefix part ${tooManyBytes(253)}`] : []),
    ...(hasForm ? [] : [`prefix part ${subdomainWords}`]),
  ]
}

function namePart(text: string): string[] {
  if (text.length <= 63 && qualifiedPattern.test(text)) return []
  const errors =
    text === '' ? [`name part ${empty}`] : Buffer.byteLength(text) > 63 ? [`name part ${tooManyBytes(63)}`] : []
  if (!qualifiedPattern.test(text)) errors.push(`name part ${qualifiedWords}`)
  return errors
}

/** Values of labels. */
export function labelValue(value: string): string[] {
  if (value.length <= 63 && labelValuePattern.test(value)) return []
  return [
    ...(Buffer.byteLength(value) > 63 ? [tooManyBytes(63)] : []),
    ...(labelValuePattern.test(value) ? [] : [labelValueWords]),
  ]
}

/** Rejects texts that would leave a directory if used as a file name. */
function directoryEscape(value: string): string[] {
  if (value === '.') return ["must not be '.'"]
  if (value === '..') return ["must not be '..'"]
  return value.startsWith('..') ? ["must not start with '..'"] : []
}

/** Keys of ConfigMaps and Secrets. */
export function configMapKey(value: string): string[] {
  const errors = value.length > 253 ? [tooLongText(253)] : []
  return [...errors, ...(configMapKeyPattern.test(value) ? [] : [configMapKeyWords]), ...directoryEscape(value)]
}

/** Names of environment variables since 1.34 (KEP-4369): printable ASCII without `=`. */
export function relaxedEnvVarName(value: string): string[] {
  if (value === '') return [`environment variable name ${empty}`]
  return unprintable.test(value)
    ? ["a valid environment variable name must consist only of printable ASCII characters other than '='"]
    : []
}

/** Names of HTTP headers in probes and hooks. */
export const httpHeaderName: TextRule = (value) => (httpHeaderPattern.test(value) ? [] : [httpHeaderWords])

/** Names of ports (IANA service names, RFC 6335). */
export function portName(value: string): string[] {
  const errors: string[] = []
  if (value.length > 15) errors.push(tooLongText(15))
  if (!portCharacters.test(value)) errors.push('must contain only alpha-numeric characters (a-z, 0-9), and hyphens (-)')
  if (!portLetter.test(value)) errors.push('must contain at least one letter (a-z)')
  if (value.includes('--')) errors.push('must not contain consecutive hyphens')
  if (value.startsWith('-') || value.endsWith('-')) errors.push('must not begin or end with a hyphen')
  return errors
}

/** Numbers of ports. */
export const portNumber = (value: number): string[] =>
  value >= 1 && value <= 65535 ? [] : ['must be between 1 and 65535, inclusive']

const leadingZero = /(^|\.)0\d/
const mapped = /^::ffff:(\d+\.){3}\d+$/i
const dotted = /^\d+(\.\d+){3}$/

/** IPv4 or IPv6 addresses, without leading zeros, not IPv4-mapped. */
export function ipAddress(value: string): string[] {
  if (isIPv4(value)) return []
  if (isIPv6(value) && !value.includes('%'))
    return mapped.test(value) ? ['must not be an IPv4-mapped IPv6 address'] : []
  if (dotted.test(value) && leadingZero.test(value) && value.split('.').every((part) => Number(part) <= 255))
    return ['must not have leading 0s']
  return ['must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)']
}

const reservedRanges: readonly (readonly [RegExp, (ip: string) => string])[] = [
  [/^(0\.0\.0\.0|::)$/, (ip) => `may not be unspecified (${ip})`],
  [/^(127\.|::1$)/, () => 'may not be in the loopback range (127.0.0.0/8, ::1/128)'],
  [/^(169\.254\.|fe[89ab][0-9a-f]:)/i, () => 'may not be in the link-local range (169.254.0.0/16, fe80::/10)'],
  [/^(224\.0\.0\.|ff[0-9a-f]2:)/i, () => 'may not be in the link-local multicast range (224.0.0.0/24, ff02::/10)'],
]

/** Addresses of endpoints. Rejects ranges that would redirect the traffic of nodes. The text is a valid address. */
export function endpointAddress(value: string): string[] {
  const found = reservedRanges.find(([range]) => range.test(value))
  return found ? [found[1](value)] : []
}

const withoutZeros = (address: string): string =>
  dotted.test(address) ? address.split('.').map(Number).join('.') : address

/** `10.9.8.0/24`, without leading zeros or bits beyond the prefix, not IPv4-mapped. */
export function cidr(value: string): string[] {
  const slash = value.indexOf('/')
  const address = value.slice(0, slash)
  const bits = value.slice(slash + 1)
  const plain = withoutZeros(address)
  const max = isIPv4(plain) ? 32 : isIPv6(plain) && !plain.includes('%') ? 128 : -1
  if (slash <= 0 || !/^\d+$/.test(bits) || Number(bits) > max)
    return ['must be a valid CIDR value, (e.g. 10.9.8.0/24 or 2001:db8::/64)']
  if (plain !== address || /^0\d/.test(bits)) return ['must not have leading 0s in IP or prefix length']
  if (mapped.test(address)) return ['must not have an IPv4-mapped IPv6 address']
  return hasHostBits(value) ? ['must not have bits set beyond the prefix length'] : []
}

/** A domain with at least `parts` labels, such as a webhook's name (3). */
export function domainName(value: string, parts: 2 | 3): string[] {
  if (value === '') return ['']
  const errors = dnsSubdomain(value)
  if (errors.length > 0) return errors
  return value.split('.').length < parts
    ? [`should be a domain with at least ${parts === 2 ? 'two' : 'three'} segments separated by dots`]
    : []
}
