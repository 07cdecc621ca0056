/** Does something with each of many, as many at once as one client may: all are tried, whatever fails. */
import { mostAtOnce } from './slow-start.ts'

export interface Attempts<Result> {
  /** What became of those that it was done with, in their order. */
  readonly done: readonly Result[]
  /** The first failure. */
  readonly error?: unknown
}

/** Calls `work` with each, in batches of a hundred. Never rejects. */
export async function attemptEach<T, Result>(
  items: readonly T[],
  work: (item: T) => Promise<Result>,
): Promise<Attempts<Result>> {
  const done: Result[] = []
  const failures: unknown[] = []
  for (let at = 0; at < items.length; at += mostAtOnce) {
    for (const result of await Promise.allSettled(items.slice(at, at + mostAtOnce).map(work))) {
      if (result.status === 'fulfilled') done.push(result.value)
      else failures.push(result.reason)
    }
  }
  return { done, ...(failures.length > 0 && { error: failures[0] }) }
}
