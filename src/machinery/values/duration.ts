/** Durations and ages as Kubernetes prints them (apimachinery `duration.HumanDuration`). */

const minute = 60
const hour = 60 * minute
const day = 24 * hour

/** Joins both parts and omits the second if it is zero: `2d1h`, `2d`. */
const parts = (large: number, largeUnit: string, small: number, smallUnit: string): string =>
  small === 0 ? `${large}${largeUnit}` : `${large}${largeUnit}${small}${smallUnit}`

/**
 * Formats `ms` with about two digits of precision: `119s`, `2m`, `9m59s`, `3h25m`, `26h`, `2d1h`, `100d`, `2y35d`.
 * Negative durations above −2 s are `0s`.
 */
export function humanDuration(ms: number): string {
  const seconds = Math.trunc(ms / 1000)
  if (seconds < -1) return '<invalid>'
  if (seconds < 0) return '0s'
  if (seconds < 2 * minute) return `${seconds}s`
  const minutes = Math.floor(seconds / minute)
  if (minutes < 10) return parts(minutes, 'm', seconds % minute, 's')
  if (minutes < 180) return `${minutes}m`
  const hours = Math.floor(seconds / hour)
  if (hours < 8) return parts(hours, 'h', minutes % 60, 'm')
  if (hours < 48) return `${hours}h`
  const days = Math.floor(seconds / day)
  if (hours < 24 * 8) return parts(days, 'd', hours % 24, 'h')
  if (days < 365 * 2) return `${days}d`
  const years = Math.floor(days / 365)
  return years < 8 ? parts(years, 'y', days % 365, 'd') : `${years}y`
}

/** Formats `ms` with one unit, as client-go's `ShortHumanDuration`: `59s`, `3m`, `23h`, `5d`, `2y`. */
export function shortHumanDuration(ms: number): string {
  const seconds = Math.trunc(ms / 1000)
  if (seconds < -1) return '<invalid>'
  if (seconds < 0) return '0s'
  if (seconds < minute) return `${seconds}s`
  if (seconds < hour) return `${Math.floor(seconds / minute)}m`
  if (seconds < day) return `${Math.floor(seconds / hour)}h`
  const days = Math.floor(seconds / day)
  return days < 365 ? `${days}d` : `${Math.floor(days / 365)}y`
}
