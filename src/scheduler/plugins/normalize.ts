/** How plug-ins that count bring their scores to what all plug-ins speak. */
import { maxNodeScore } from '../framework/index.ts'

/** Makes the highest score `maxNodeScore` and the others what they are in proportion, in place. */
export function inProportion(scores: number[]): void {
  const highest = largestOf(scores)
  if (highest === 0) return
  for (let i = 0; i < scores.length; i++) scores[i] = Math.trunc((maxNodeScore * (scores[i] ?? 0)) / highest)
}

/** The other way round: the highest becomes 0, and 0 `maxNodeScore`. */
export function inReverseProportion(scores: number[]): void {
  const highest = largestOf(scores)
  for (let i = 0; i < scores.length; i++)
    scores[i] = highest === 0 ? maxNodeScore : maxNodeScore - Math.trunc((maxNodeScore * (scores[i] ?? 0)) / highest)
}

/** At least 0. There may be more of them than arguments of a function. */
function largestOf(scores: readonly number[]): number {
  let largest = 0
  for (const score of scores) if (score > largest) largest = score
  return largest
}
