/** Runs an operation for each item, so many at a time. */

/**
 * Resolves when all are done. The first failure aborts the signal of the others, and rejects when they have ended.
 */
export async function mapLimited<Item>(
  items: readonly Item[],
  limit: number,
  operation: (item: Item, signal: AbortSignal) => Promise<void>,
  signal?: AbortSignal,
): Promise<void> {
  const failed = new AbortController()
  const either = signal ? AbortSignal.any([signal, failed.signal]) : failed.signal
  const remaining = items.values()
  const errors: unknown[] = []
  const work = async (): Promise<void> => {
    for (const item of remaining)
      try {
        if (either.aborted) return
        await operation(item, either)
      } catch (error) {
        errors.push(error)
        failed.abort()
        return
      }
  }
  await Promise.all(Array.from({ length: Math.min(limit, items.length) }, work))
  if (errors.length > 0) throw errors[0]
  signal?.throwIfAborted()
}
