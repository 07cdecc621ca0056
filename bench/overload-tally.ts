/** What came of the requests of an overload. */

export interface Tally {
  /** By status; 0 where there was no answer. */
  readonly answers: Record<number, number>
  /** Of those that were served, ms. */
  readonly times: number[]
  /** Refusals that do not say when to come again. */
  mute: number
  firstFailure?: string
}

export const newTally = (): Tally => ({ answers: {}, times: [], mute: 0 })

export const percentile = (times: readonly number[], part: number): number =>
  times.toSorted((a, b) => a - b)[Math.min(times.length - 1, Math.floor(times.length * part))] ?? 0
