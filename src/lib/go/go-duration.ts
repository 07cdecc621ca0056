/** Parses and formats durations as Go (`time.ParseDuration`, `Duration.String`), with Go's error messages. */
import { goQuote } from './go-quote.ts'

const unitsMs: Readonly<Record<string, number>> = {
  ns: 1e-6,
  us: 1e-3,
  µs: 1e-3,
  μs: 1e-3,
  ms: 1,
  s: 1000,
  m: 60_000,
  h: 3_600_000,
}

/** Parses a duration, which may be negative; returns ms. Throws an Error: `time: invalid duration "x"`. */
export function goDurationMs(text: string): number {
  const invalid = (): Error => new Error(`time: invalid duration ${goQuote(text)}`)
  const sign = text.startsWith('-') ? -1 : 1
  let rest = text.replace(/^[+-]/, '')
  if (rest === '0') return 0
  if (rest === '') throw invalid()
  let total = 0
  while (rest !== '') {
    const [all, amount = '', unit = ''] = /^(\d+\.?\d*|\.\d+)([^\d.]*)/.exec(rest) ?? []
    if (all === undefined) throw invalid()
    if (unit === '') throw new Error(`time: missing unit in duration ${goQuote(text)}`)
    const ms = unitsMs[unit]
    if (ms === undefined) throw new Error(`time: unknown unit ${goQuote(unit)} in duration ${goQuote(text)}`)
    total += Number(amount) * ms
    rest = rest.slice(all.length)
  }
  return sign * total
}

/** Formats ms as Go: `1m0s`, `500ms`, `1.0000005s`. Precise to the nanosecond. */
export function goDuration(ms: number): string {
  if (ms < 0) return `-${goDuration(-ms)}`
  if (ms < 1000) return ms === 0 ? '0s' : `${Number(ms.toFixed(6))}ms`
  const hours = Math.floor(ms / 3_600_000)
  const minutes = Math.floor((ms % 3_600_000) / 60_000)
  const seconds = Number(((ms % 60_000) / 1000).toFixed(9))
  return `${hours > 0 ? `${hours}h` : ''}${hours > 0 || minutes > 0 ? `${minutes}m` : ''}${seconds}s`
}
