/** Times with microseconds, as events tell them. Most of a text is the same for a second. */

/** When the clock of `performance.now()` began, ms since 1970. Node works it out anew for everybody who asks. */
export const clockOrigin = performance.timeOrigin

const thousandths = Array.from({ length: 1000 }, (_, i) => String(i).padStart(3, '0'))

let second = Number.NaN
let prefix = ''

/** `2026-11-21T20:02:33.000123Z`; `ms` since 1970, with fractions. */
export function microTime(ms: number): string {
  const whole = Math.floor(ms / 1000)
  if (whole !== second) {
    second = whole
    prefix = new Date(whole * 1000).toISOString().slice(0, 20)
  }
  const micros = Math.floor((ms - whole * 1000) * 1000)
  return `${prefix}${thousandths[Math.floor(micros / 1000)]}${thousandths[micros % 1000]}Z`
}
