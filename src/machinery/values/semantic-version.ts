/** Semantic versions (semver.org 2.0), with the messages of the Go library that upstream uses. */
import { goQuote } from '../../lib/go/go-quote.ts'

export interface SemanticVersion {
  readonly major: bigint
  readonly minor: bigint
  readonly patch: bigint
  /** Identifiers after `-`. Numbers are ordered before words. */
  readonly prerelease: readonly (bigint | string)[]
  /** Identifiers after `+`. Comparisons ignore them. */
  readonly build: readonly string[]
}

/** The text is not a semantic version. */
export class SemanticVersionError extends Error {
  constructor(message: string) {
    super(message)
    this.name = 'SemanticVersionError'
  }
}

const identifier = /^[0-9A-Za-z-]*$/
const numeric = /^[0-9]*$/
const maxUint64 = 2n ** 64n - 1n

/** Parses `MAJOR.MINOR.PATCH[-PRERELEASE][+BUILD]`. Throws SemanticVersionError. */
export function parseSemanticVersion(text: string): SemanticVersion {
  if (text === '') throw new SemanticVersionError('Version string empty')
  const [major, minor, tail] = firstThree(text)
  if (major === undefined || minor === undefined || tail === undefined)
    throw new SemanticVersionError('No Major.Minor.Patch elements found')
  const numbers = { major: part(major, 'major', 'Major'), minor: part(minor, 'minor', 'Minor') }
  const [beforeBuild, build] = cut(tail, '+')
  const [patch, prerelease] = cut(beforeBuild, '-')
  return {
    ...numbers,
    patch: part(patch, 'patch', 'Patch'),
    prerelease: prerelease?.split('.').map(prereleaseIdentifier) ?? [],
    build: build?.split('.').map(buildIdentifier) ?? [],
  }
}

/**
 * Parses a version like parseSemanticVersion, but ignores a leading `v` and leading zeros. Missing minor and patch
 * numbers are 0.
 */
export function parseTolerantVersion(text: string): SemanticVersion {
  const parts = firstThree(text.startsWith('v') ? text.slice(1) : text).map(withoutLeadingZeros)
  if (parts.length < 3 && /[+-]/.test(parts.at(-1) ?? ''))
    throw new SemanticVersionError('short version cannot contain PreRelease/Build meta data')
  while (parts.length < 3) parts.push('0')
  return parseSemanticVersion(parts.join('.'))
}

/** Returns -1, 0 or 1 if `a` is older than, as old as, or newer than `b`. */
export function compareVersions(a: SemanticVersion, b: SemanticVersion): number {
  const numbers = compare(a.major, b.major) || compare(a.minor, b.minor) || compare(a.patch, b.patch)
  if (numbers !== 0) return numbers
  // A version without prerelease is newer than all of its prereleases.
  if (a.prerelease.length === 0 || b.prerelease.length === 0) return compare(b.prerelease.length, a.prerelease.length)
  for (const [i, x] of a.prerelease.entries()) {
    const y = b.prerelease[i]
    if (y === undefined) return 1
    const order = typeof x === typeof y ? compare(x, y) : typeof x === 'bigint' ? -1 : 1
    if (order !== 0) return order
  }
  return compare(a.prerelease.length, b.prerelease.length)
}

const compare = <T extends bigint | number | string>(a: T, b: T): number => (a < b ? -1 : a > b ? 1 : 0)

/** Splits the text into the first two parts and the rest. */
function firstThree(text: string): string[] {
  const parts = text.split('.')
  return parts.length <= 3 ? parts : [...parts.slice(0, 2), parts.slice(2).join('.')]
}

function cut(text: string, mark: string): readonly [string, string | undefined] {
  const at = text.indexOf(mark)
  return at < 0 ? [text, undefined] : [text.slice(0, at), text.slice(at + 1)]
}

function withoutLeadingZeros(text: string): string {
  if (text.length < 2) return text
  const rest = text.replace(/^0+/, '')
  return /^[0-9]/.test(rest) ? rest : `0${rest}`
}

function part(text: string, name: string, title: string): bigint {
  if (!numeric.test(text))
    throw new SemanticVersionError(`Invalid character(s) found in ${name} number ${goQuote(text)}`)
  if (text.length > 1 && text.startsWith('0'))
    throw new SemanticVersionError(`${title} number must not contain leading zeroes ${goQuote(text)}`)
  return uint64(text)
}

function uint64(text: string): bigint {
  const wrong = (why: string): SemanticVersionError =>
    new SemanticVersionError(`strconv.ParseUint: parsing ${goQuote(text)}: ${why}`)
  if (text === '') throw wrong('invalid syntax')
  // Numbers of more than 20 digits do not fit; BigInt of a very long one would be slow.
  if (text.length > 20 || BigInt(text) > maxUint64) throw wrong('value out of range')
  return BigInt(text)
}

function prereleaseIdentifier(text: string): bigint | string {
  if (text === '') throw new SemanticVersionError('Prerelease is empty')
  if (!identifier.test(text))
    throw new SemanticVersionError(`Invalid character(s) found in prerelease ${goQuote(text)}`)
  if (!numeric.test(text)) return text
  if (text.length > 1 && text.startsWith('0'))
    throw new SemanticVersionError(`Numeric PreRelease version must not contain leading zeroes ${goQuote(text)}`)
  return uint64(text)
}

function buildIdentifier(text: string): string {
  if (text === '') throw new SemanticVersionError('Build meta data is empty')
  if (!identifier.test(text))
    throw new SemanticVersionError(`Invalid character(s) found in build meta data ${goQuote(text)}`)
  return text
}
