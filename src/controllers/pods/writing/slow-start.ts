/**
 * Does something many times, carefully at first: what fails once would mostly fail a thousand times as well, such as
 * creations beyond a quota.
 */

export interface SlowStart {
  readonly done: number
  /** The first failure; what would have come after its batch was not tried. */
  readonly error?: unknown
}

const firstBatch = 1
/**
 * What one client has under way at most: a server has no seats for more of it, and sooner or later refuses to queue
 * them (429).
 */
export const mostAtOnce = 100

/**
 * Calls `work` with 0 … count-1, in batches of 1, 2, 4, … up to a hundred, each at once; ends after the batch that has
 * a failure. Never rejects.
 */
export async function slowStart(count: number, work: (at: number) => Promise<unknown>): Promise<SlowStart> {
  let done = 0
  for (let size = firstBatch; done < count; size = Math.min(size * 2, mostAtOnce)) {
    const batch = Array.from({ length: Math.min(size, count - done) }, (_, at) => done + at)
    const failures = (await Promise.allSettled(batch.map((at) => work(at)))).filter(
      (result) => result.status === 'rejected',
    )
    done += batch.length - failures.length
    const [failure] = failures
    if (failure) return { done, error: failure.reason }
  }
  return { done }
}
