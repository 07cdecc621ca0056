/** Numbers of pods that may be given as a part of all: `maxUnavailable`, `maxSurge`. */
import { percentOf } from '../../machinery/validation/field-rules.ts'

/** How many of `total` a number or a percentage means, rounded up or down; undefined for what is neither. */
export function countOf(value: number | string | undefined, total: number, round: 'up' | 'down'): number | undefined {
  if (typeof value === 'number') return value
  const percent = percentOf(value)
  if (percent === undefined) return undefined
  const part = (percent * total) / 100
  return round === 'up' ? Math.ceil(part) : Math.floor(part)
}
