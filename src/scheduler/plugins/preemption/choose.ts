/** Which node's victims are missed least. */
import type { Victims } from '../../framework/index.ts'
import { startOf } from './importance.ts'

export interface Candidate {
  readonly node: string
  readonly victims: Victims
}

/** Priorities may be negative: with this, the sum of two is more than one of them. */
const offset = 2 ** 31

const highest = ({ pods: [first] }: Victims): number => first?.priority ?? Number.NEGATIVE_INFINITY
const sum = ({ pods }: Victims): number => pods.reduce((total, { priority }) => total + priority + offset, 0)
/** When the first of the most important victims began. */
const earliestStart = (victims: Victims): number =>
  Math.min(...victims.pods.filter(({ priority }) => priority === highest(victims)).map(startOf))

/** In this order; the smallest number wins, and the next rule decides between equals. */
const rules: readonly ((victims: Victims) => number)[] = [
  ({ violations }) => violations,
  highest,
  sum,
  ({ pods }) => pods.length,
  (victims) => -earliestStart(victims),
]

/** The first of those that no rule sets apart. */
export function chooseCandidate(candidates: readonly Candidate[]): Candidate | undefined {
  let left = candidates
  for (const rule of rules) {
    if (left.length < 2) break
    const values = left.map(({ victims }) => rule(victims))
    const least = Math.min(...values)
    left = left.filter((_, at) => values[at] === least)
  }
  return left[0]
}
