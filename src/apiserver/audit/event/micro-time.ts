/** Formats times with microseconds. The prefix is cached for a second. */

/** The origin of `performance.now()`, ms since 1970. Cached, since Node computes it on each access. */
export const clockOrigin = performance.timeOrigin

const thousandths = Array.from({ length: 1000 }, (_, i) => String(i).padStart(3, '0'))

let second = Number.NaN
let prefix = ''

/** Formats `ms` since 1970 (with fractions) as `2026-11-21T20:02:33.000123Z`. */
export function microTime(ms: number): string {
  const whole = Math.floor(ms / 1000)
  if (whole !== second) {
    second = whole
    prefix = new Date(whole * 1000).toISOString().slice(0, 20)
  }
  const micros = Math.floor((ms - whole * 1000) * 1000)
  return `${prefix}${thousandths[Math.floor(micros / 1000)]}${thousandths[micros % 1000]}Z`
}
