/**
 * Runs a function many times in growing batches: if the first call fails, for example due to a quota, the others would
 * mostly fail too.
 */

export interface SlowStart {
  readonly done: number
  /** The first error; later batches were not attempted. */
  readonly error?: unknown
}

const firstBatch = 1
/** Maximum number of concurrent requests of one client: the server has no seats for more and rejects them (429). */
export const maxConcurrent = 100

/**
 * Calls `work` with 0 … count-1 in concurrent batches of 1, 2, 4, … up to 100. Stops after the first batch with an
 * error. Never rejects.
 */
export async function slowStart(count: number, work: (at: number) => Promise<unknown>): Promise<SlowStart> {
  let done = 0
  for (let size = firstBatch; done < count; size = Math.min(size * 2, maxConcurrent)) {
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
