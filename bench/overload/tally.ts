/** The results of the requests of an overload. */

export interface Tally {
  /** Number of responses by status; 0 for none. */
  readonly answers: Record<number, number>
  /** Times of successful requests in ms. */
  readonly times: number[]
  /** Number of 429 responses without Retry-After. */
  mute: number
  firstFailure?: string
}

export const newTally = (): Tally => ({ answers: {}, times: [], mute: 0 })

export const percentile = (times: readonly number[], part: number): number =>
  times.toSorted((a, b) => a - b)[Math.min(times.length - 1, Math.floor(times.length * part))] ?? 0
