/** Runs a function for each item, limited to the concurrency of one client. Errors do not stop the others. */
import { maxConcurrent } from './slow-start.ts'

export interface Attempts<Result> {
  /** Results of the successful calls, in the order of the items. */
  readonly done: readonly Result[]
  /** The first failure. */
  readonly error?: unknown
}

/** Calls `work` for each item, in batches of 100. Never rejects. */
export async function attemptEach<T, Result>(
  items: readonly T[],
  work: (item: T) => Promise<Result>,
): Promise<Attempts<Result>> {
  const done: Result[] = []
  const failures: unknown[] = []
  for (let at = 0; at < items.length; at += maxConcurrent) {
    for (const result of await Promise.allSettled(items.slice(at, at + maxConcurrent).map(work))) {
      if (result.status === 'fulfilled') done.push(result.value)
      else failures.push(result.reason)
    }
  }
  return { done, ...(failures.length > 0 && { error: failures[0] }) }
}
