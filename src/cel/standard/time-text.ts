/** Parses and formats times (RFC 3339) and durations (Go's syntax), in nanoseconds. */

const second = 1_000_000_000n
const units: Readonly<Record<string, bigint>> = {
  ns: 1n,
  us: 1_000n,
  µs: 1_000n,
  μs: 1_000n,
  ms: 1_000_000n,
  s: second,
  m: 60n * second,
  h: 3600n * second,
}
const part = /([0-9]*)(?:\.([0-9]*))?(ns|us|µs|μs|ms|s|m|h)/y
const maxNanoseconds = 2n ** 63n - 1n

/** Parses `1h2m3.5s` to nanoseconds. Returns undefined if it is not a duration. */
export function parseDuration(text: string): bigint | undefined {
  const negative = text.startsWith('-')
  const body = negative || text.startsWith('+') ? text.slice(1) : text
  if (body === '0') return 0n
  if (body === '') return undefined
  let total = 0n
  part.lastIndex = 0
  while (part.lastIndex < body.length) {
    const found = part.exec(body)
    if (!found) return undefined
    const [, whole = '', fraction = '', unit = ''] = found
    if (whole === '' && fraction === '') return undefined
    const size = units[unit] ?? 0n
    total +=
      BigInt(whole || '0') * size + (fraction === '' ? 0n : (BigInt(fraction) * size) / 10n ** BigInt(fraction.length))
  }
  if (total > maxNanoseconds + (negative ? 1n : 0n)) return undefined
  return negative ? -total : total
}

const rfc3339 = /^(\d{4})-(\d\d)-(\d\d)[Tt](\d\d):(\d\d):(\d\d)(?:[.,](\d+))?(?:[Zz]|([+-])(\d\d):(\d\d))$/

/** Parses an RFC 3339 time to nanoseconds since 1970 and the zone's minutes east of UTC. Undefined if it is invalid. */
export function parseTime(text: string): { readonly nanoseconds: bigint; readonly offset: number } | undefined {
  const found = rfc3339.exec(text)
  if (!found) return undefined
  const [year, month, day, hour, minute, seconds] = found.slice(1, 7).map(Number) as [
    number,
    number,
    number,
    number,
    number,
    number,
  ]
  if (month < 1 || month > 12 || day < 1 || day > daysIn(year, month) || hour > 23 || minute > 59 || seconds > 59)
    return undefined
  const [, , , , , , , fraction = '', sign, zoneHour = '0', zoneMinute = '0'] = found
  const ahead = Number(zoneHour) * 60 + Number(zoneMinute)
  const offset = sign === '-' && ahead > 0 ? -ahead : ahead
  const whole = BigInt(utc(year, month - 1, day, hour, minute, seconds)) / 1000n - BigInt(offset * 60)
  return { nanoseconds: whole * second + BigInt(fraction.slice(0, 9).padEnd(9, '0')), offset }
}

/** Returns milliseconds since 1970. Date.UTC would read years before 100 as 19xx. */
function utc(year: number, month: number, day: number, hour: number, minute: number, seconds: number): number {
  const date = new Date(0)
  date.setUTCFullYear(year, month, day)
  date.setUTCHours(hour, minute, seconds)
  return date.getTime()
}

const daysIn = (year: number, month: number): number => new Date(utc(year, month, 0, 0, 0, 0)).getUTCDate()

/** Formats a time like Go's RFC3339Nano, in its own zone. */
export function formatTime({ nanoseconds, offset }: { readonly nanoseconds: bigint; readonly offset: number }): string {
  const local = nanoseconds + BigInt(offset) * 60n * second
  const rest = ((local % second) + second) % second
  const whole = new Date(Number((local - rest) / 1_000_000n)).toISOString().slice(0, 19)
  const fraction = rest === 0n ? '' : `.${rest.toString().padStart(9, '0').replace(/0+$/, '')}`
  return `${whole}${fraction}${offset === 0 ? 'Z' : zoneText(offset)}`
}

function zoneText(offset: number): string {
  const size = Math.abs(offset)
  const two = (count: number): string => String(count).padStart(2, '0')
  return `${offset < 0 ? '-' : '+'}${two(Math.floor(size / 60))}:${two(size % 60)}`
}

/** Formats a duration like CEL: `3723.004s`. */
export function formatDuration(nanoseconds: bigint): string {
  const size = nanoseconds < 0n ? -nanoseconds : nanoseconds
  const fraction = (size % second).toString().padStart(9, '0').replace(/0+$/, '')
  return `${nanoseconds < 0n ? '-' : ''}${size / second}${fraction === '' ? '' : `.${fraction}`}s`
}
