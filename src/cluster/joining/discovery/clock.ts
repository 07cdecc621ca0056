/** Differences between the clocks of two machines. */
import { humanDuration } from '../../../machinery/values/duration.ts'

/** Certificates are backdated by this time, in ms; a clock that is further behind rejects new ones. */
const toleratedMs = 5 * 60_000

/**
 * Compares the header `Date` of a response with the time of this machine in ms since 1970. Returns `2h behind` or
 * `10m ahead of` for a difference of more than five minutes, else undefined.
 */
export function clockDifference(date: string | undefined, now: number): string | undefined {
  const there = Date.parse(date ?? '')
  const difference = now - there
  if (Number.isNaN(difference) || Math.abs(difference) <= toleratedMs) return undefined
  return `${humanDuration(Math.abs(difference))} ${difference < 0 ? 'behind' : 'ahead of'}`
}
