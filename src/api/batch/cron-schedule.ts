/**
 * Cron schedules of CronJobs: five fields, or a descriptor such as `@hourly` or `@every 90s`.
 * Syntax and messages are those of robfig/cron, which upstream uses.
 */
import { parseDurationMs } from '../../lib/duration.ts'
import { own } from '../../lib/own.ts'

/** A parsed schedule: the minutes, hours, … that match, or an interval. */
export type CronSchedule =
  | { readonly everyMs: number }
  | {
      readonly minutes: ReadonlySet<number>
      readonly hours: ReadonlySet<number>
      readonly daysOfMonth: ReadonlySet<number>
      readonly months: ReadonlySet<number>
      readonly daysOfWeek: ReadonlySet<number>
      /** True if the field is `*` or `?`: then only the other day field restricts the days. */
      readonly anyDayOfMonth: boolean
      readonly anyDayOfWeek: boolean
    }

interface Bounds {
  readonly min: number
  readonly max: number
  readonly names?: readonly string[]
}

const bounds: readonly Bounds[] = [
  { min: 0, max: 59 },
  { min: 0, max: 23 },
  { min: 1, max: 31 },
  { min: 1, max: 12, names: ['jan', 'feb', 'mar', 'apr', 'may', 'jun', 'jul', 'aug', 'sep', 'oct', 'nov', 'dec'] },
  { min: 0, max: 6, names: ['sun', 'mon', 'tue', 'wed', 'thu', 'fri', 'sat'] },
]

const descriptors: Readonly<Record<string, string>> = {
  '@yearly': '0 0 1 1 *',
  '@annually': '0 0 1 1 *',
  '@monthly': '0 0 1 * *',
  '@weekly': '0 0 * * 0',
  '@daily': '0 0 * * *',
  '@midnight': '0 0 * * *',
  '@hourly': '0 * * * *',
}

/** Parses a schedule. Throws an Error with a message for the user. */
export function parseCronSchedule(text: string): CronSchedule {
  if (text === '') throw new Error('empty spec string')
  if (text.startsWith('@')) return descriptor(text)
  const fields = text.split(/\s+/).filter(Boolean)
  if (fields.length !== 5) throw new Error(`expected exactly 5 fields, found ${fields.length}: [${fields.join(' ')}]`)
  const [minutes, hours, daysOfMonth, months, daysOfWeek] = fields.map((field, i) =>
    values(field, bounds[i] as Bounds),
  ) as [Set<number>, Set<number>, Set<number>, Set<number>, Set<number>]
  return {
    minutes,
    hours,
    daysOfMonth,
    months,
    daysOfWeek,
    anyDayOfMonth: isAny(fields[2]),
    anyDayOfWeek: isAny(fields[4]),
  }
}

const isAny = (field = ''): boolean => field.split(',').some((part) => /^[*?](\/1)?$/.test(part))

function descriptor(text: string): CronSchedule {
  const known = own(descriptors, text)
  if (known) return parseCronSchedule(known)
  if (!text.startsWith('@every ')) throw new Error(`unrecognized descriptor: ${text}`)
  const duration = text.slice('@every '.length)
  const ms = parseDurationMs(duration)
  if (ms === undefined)
    throw new Error(`failed to parse duration ${text}: time: invalid duration ${JSON.stringify(duration)}`)
  return { everyMs: Math.max(1000, Math.floor(ms / 1000) * 1000) }
}

function values(field: string, limits: Bounds): Set<number> {
  const found = new Set<number>()
  for (const part of new Set(field.split(',').filter(Boolean))) {
    const { start, end, step } = range(part, limits)
    for (let value = start; value <= end; value += step) found.add(value)
  }
  return found
}

function range(part: string, { min, max, names }: Bounds): { start: number; end: number; step: number } {
  const [span = '', every, ...slashes] = part.split('/')
  const [low = '', high, ...hyphens] = span.split('-')
  let start: number
  let end: number
  if (low === '*' || low === '?') {
    start = min
    end = max
  } else {
    start = number(low, names, min)
    if (hyphens.length > 0) throw new Error(`too many hyphens: ${part}`)
    end = high === undefined ? start : number(high, names, min)
  }
  let step = 1
  if (slashes.length > 0) throw new Error(`too many slashes: ${part}`)
  if (every !== undefined) {
    step = number(every)
    // `5/10` starts at 5 and ends at the maximum.
    if (high === undefined) end = max
  }
  if (start < min) throw new Error(`beginning of range (${start}) below minimum (${min}): ${part}`)
  if (end > max) throw new Error(`end of range (${end}) above maximum (${max}): ${part}`)
  if (start > end) throw new Error(`beginning of range (${start}) beyond end of range (${end}): ${part}`)
  if (step === 0) throw new Error(`step of range should be a positive number: ${part}`)
  return { start, end, step }
}

function number(text: string, names: readonly string[] = [], first = 0): number {
  const named = names.indexOf(text.toLowerCase())
  if (named >= 0) return named + first
  if (!/^[+-]?\d+$/.test(text))
    throw new Error(`failed to parse int from ${text}: strconv.Atoi: parsing ${JSON.stringify(text)}: invalid syntax`)
  const value = Number(text)
  if (value < 0) throw new Error(`negative number (${value}) not allowed: ${text}`)
  return value
}
