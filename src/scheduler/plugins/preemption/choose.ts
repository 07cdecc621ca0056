/** Chooses the node with the least important victims. */
import type { Victims } from '../../framework/index.ts'
import { startOf } from './importance.ts'

export interface Candidate {
  readonly node: string
  readonly victims: Victims
}

/** Priorities may be negative: with this offset, two pods always have a larger sum than one. */
const offset = 2 ** 31

const highest = ({ pods: [first] }: Victims): number => first?.priority ?? Number.NEGATIVE_INFINITY
const sum = ({ pods }: Victims): number => pods.reduce((total, { priority }) => total + priority + offset, 0)
/** The earliest start of the most important victims. */
const earliestStart = (victims: Victims): number =>
  Math.min(...victims.pods.filter(({ priority }) => priority === highest(victims)).map(startOf))

/** In this order; the lowest value wins, and ties go to the next rule. */
const rules: readonly ((victims: Victims) => number)[] = [
  ({ violations }) => violations,
  highest,
  sum,
  ({ pods }) => pods.length,
  (victims) => -earliestStart(victims),
]

/** Returns the first of the candidates that all rules rate equal. */
export function chooseCandidate(candidates: readonly Candidate[]): Candidate | undefined {
  let remaining = candidates
  for (const rule of rules) {
    if (remaining.length < 2) break
    const values = remaining.map(({ victims }) => rule(victims))
    const least = Math.min(...values)
    remaining = remaining.filter((_, at) => values[at] === least)
  }
  return remaining[0]
}
