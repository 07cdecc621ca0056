/** Numbers of pods given as integers or percentages: `maxUnavailable`, `maxSurge`. */
import { percentOf } from '../../machinery/validation/field-rules.ts'

/** Resolves an integer or a percentage of `total`, rounded up or down; undefined if it is neither. */
export function countOf(value: number | string | undefined, total: number, round: 'up' | 'down'): number | undefined {
  if (typeof value === 'number') return value
  const percent = percentOf(value)
  if (percent === undefined) return undefined
  const part = (percent * total) / 100
  return round === 'up' ? Math.ceil(part) : Math.floor(part)
}
