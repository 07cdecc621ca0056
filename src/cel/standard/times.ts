/** Functions of timestamps and durations: `t.getHours("Europe/Berlin")`. Default zone: UTC. */
import type { FunctionDeclaration } from '../library.ts'
import { durationType, intType, stringType, timestampType } from '../types.ts'
import { CelError, type Duration, type Timestamp } from '../values.ts'
import { declare, member } from './declare.ts'

type Part = (date: Date) => number

const day = 86_400_000

const parts: readonly (readonly [string, string, Part])[] = [
  ['getFullYear', 'year', (date) => date.getUTCFullYear()],
  ['getMonth', 'month', (date) => date.getUTCMonth()],
  ['getDate', 'day_of_month_1_based', (date) => date.getUTCDate()],
  ['getDayOfMonth', 'day_of_month', (date) => date.getUTCDate() - 1],
  ['getDayOfWeek', 'day_of_week', (date) => date.getUTCDay()],
  ['getDayOfYear', 'day_of_year', (date) => Math.floor((date.getTime() - new Date(date).setUTCMonth(0, 1)) / day)],
]

const clock: readonly (readonly [string, string, Part, bigint])[] = [
  ['getHours', 'hours', (date) => date.getUTCHours(), 3_600_000_000_000n],
  ['getMinutes', 'minutes', (date) => date.getUTCMinutes(), 60_000_000_000n],
  ['getSeconds', 'seconds', (date) => date.getUTCSeconds(), 1_000_000_000n],
  ['getMilliseconds', 'milliseconds', (date) => date.getUTCMilliseconds(), 1_000_000n],
]

const milliseconds = ({ nanoseconds }: Timestamp): number =>
  Number(nanoseconds / 1_000_000n) - (nanoseconds % 1_000_000n < 0n ? 1 : 0)

/** Returns a date whose UTC parts are those of the timestamp in `zone`. */
const inZone = (moment: Timestamp, zone: string): Date =>
  new Date(milliseconds(moment) + offset(milliseconds(moment), zone))

const fixedOffset = /^([+-]?)(\d\d):(\d\d)$/

/** Returns the offset of a zone from UTC at a time, in ms. Throws CelError for an unknown zone. */
function offset(at: number, zone: string): number {
  const found = fixedOffset.exec(zone)
  if (found) return (Number(found[2]) * 60 + Number(found[3])) * (found[1] === '-' ? -60_000 : 60_000)
  if (zone === '' || zone === 'UTC') return 0
  const shown = Object.fromEntries(
    format(zone)
      .formatToParts(at)
      .map(({ type, value }) => [type, Number(value)]),
  )
  const { year = 0, month = 1, day: date = 1, hour = 0, minute = 0, second = 0 } = shown
  return Date.UTC(year, month - 1, date, hour, minute, second) - Math.floor(at / 1000) * 1000
}

const formats = new Map<string, Intl.DateTimeFormat>()

function format(zone: string): Intl.DateTimeFormat {
  const known = formats.get(zone)
  if (known) return known
  try {
    const numeric = 'numeric'
    const made = new Intl.DateTimeFormat('en-US', {
      timeZone: zone,
      hourCycle: 'h23',
      year: numeric,
      month: numeric,
      day: numeric,
      hour: numeric,
      minute: numeric,
      second: numeric,
    })
    formats.set(zone, made)
    return made
  } catch {
    throw new CelError(`unknown time zone ${zone}`)
  }
}

const ofMoment = (id: string, part: Part) => [
  member(`timestamp_to_${id}`, [timestampType], intType, (moment: Timestamp) => BigInt(part(inZone(moment, 'UTC')))),
  member(`timestamp_to_${id}_with_tz`, [timestampType, stringType], intType, (moment: Timestamp, zone: string) =>
    BigInt(part(inZone(moment, zone))),
  ),
]

export const times: readonly FunctionDeclaration[] = [
  ...parts.map(([name, id, part]) => declare(name, ...ofMoment(id, part))),
  ...clock.map(([name, id, part, unit]) =>
    declare(
      name,
      ...ofMoment(id, part),
      member(`duration_to_${id}`, [durationType], intType, (duration: Duration) => duration.nanoseconds / unit),
    ),
  ),
]
