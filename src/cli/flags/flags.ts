/** Parsers of flag values. Invalid ones throw commander's InvalidArgumentError, which names the flag. */
import { isIP } from 'node:net'
import { InvalidArgumentError } from 'commander'
import { parseCidr } from '../../lib/cidr.ts'
import { parseDurationMs } from '../../lib/duration.ts'

/** Default of `--data-dir`. */
export const defaultDataDirectory = '.t8s'

/** A port; 0 for any free one. */
export function port(text: string): number {
  const number = wholeNumber(text)
  if (number === undefined || number > 65_535)
    throw new InvalidArgumentError('It must be a number from 0 to 65535; 0 means any free port.')
  return number
}

/** Kubernetes' `-v`, also in the form `-v=2`. */
export function verbosity(text: string): number {
  const number = wholeNumber(text.replace(/^=/, ''))
  if (number === undefined || number > 10) throw new InvalidArgumentError('It must be a number from 0 (quiet) to 10.')
  return number
}

/** An IP address to listen on. */
export function bindAddress(text: string): string {
  if (isIP(text) === 0)
    throw new InvalidArgumentError(
      'It must be an IP address such as 127.0.0.1, or 0.0.0.0 for all addresses of this machine.',
    )
  return text
}

/** One CIDR range, or one for IPv4 and one for IPv6. */
export function serviceRanges(text: string): string {
  const ranges = text.split(',').map((range) => parseCidr(range.trim()))
  const [first, second] = ranges
  if (ranges.length > 2 || ranges.includes(undefined) || (second && first?.family === second.family)) {
    throw new InvalidArgumentError(
      'It must be a range such as 10.0.0.0/24, or an IPv4 and an IPv6 range separated by a comma.',
    )
  }
  return text.replaceAll(' ', '')
}

/** `key=true` or `key=false`, comma-separated and repeatable; a key without a value means true. */
export function runtimeConfig(text: string, previous: readonly string[] = []): string[] {
  const items = text
    .split(',')
    .map((item) => item.trim())
    .filter((item) => item !== '')
  for (const item of items) {
    if (!/^[a-z0-9.-]+(\/[a-z0-9.-]+){0,2}(=(true|false))?$/i.test(item)) {
      throw new InvalidArgumentError(
        `'${item}' must have the form group/version=true, group/version/resource=false or api/beta=true.`,
      )
    }
  }
  return [...previous, ...items.map((item) => (item.includes('=') ? item : `${item}=true`))]
}

/** Parses a Go duration; returns ms. */
export function durationMs(text: string): number {
  const ms = parseDurationMs(text)
  if (ms === undefined) throw new InvalidArgumentError('It must be a duration such as 30s, 5m or 1h30m.')
  return ms
}

/** Parses a Go duration greater than 0; returns ms. */
export function positiveDurationMs(text: string): number {
  const ms = durationMs(text)
  if (ms < 1) throw new InvalidArgumentError('It must be greater than 0.')
  return ms
}

const wholeNumber = (text: string): number | undefined => (/^\d{1,9}$/.test(text) ? Number(text) : undefined)
