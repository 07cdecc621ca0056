/** Scales counts of plug-ins to the range of scores. */
import { maxNodeScore } from '../framework/index.ts'

/** Scales in place: the highest score becomes `maxNodeScore`, the others are proportional. */
export function scaleProportionally(scores: number[]): void {
  const highest = largestOf(scores)
  if (highest === 0) return
  for (let i = 0; i < scores.length; i++) scores[i] = Math.trunc((maxNodeScore * (scores[i] ?? 0)) / highest)
}

/** The reverse: the highest becomes 0, and 0 becomes `maxNodeScore`. */
export function scaleReversed(scores: number[]): void {
  const highest = largestOf(scores)
  for (let i = 0; i < scores.length; i++)
    scores[i] = highest === 0 ? maxNodeScore : maxNodeScore - Math.trunc((maxNodeScore * (scores[i] ?? 0)) / highest)
}

/** At least 0. Not Math.max(...scores): there may be too many for arguments. */
function largestOf(scores: readonly number[]): number {
  let largest = 0
  for (const score of scores) if (score > largest) largest = score
  return largest
}
