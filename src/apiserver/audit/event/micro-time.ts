/** Times with microseconds, as events tell them. Most of a text is the same for a second. */

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
  return `${prefix}${String(micros).padStart(6, '0')}Z`
}
