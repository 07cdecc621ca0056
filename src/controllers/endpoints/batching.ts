/** Batches changes: a key is reconciled once for all changes within a period, which starts with the first change. */
import type { ReconcileContext } from '../../client/controller/controller.ts'

/** Enqueues a key. */
export type Enqueue = (key: string, context: ReconcileContext) => void

/** A period of 0 enqueues immediately. */
export function batchedQueue(periodMs: number): { readonly enqueue: Enqueue; readonly start: (key: string) => void } {
  const pending = new Set<string>()
  return {
    enqueue(key, { requeue }) {
      if (periodMs <= 0) return requeue(key)
      if (pending.has(key)) return
      pending.add(key)
      requeue(key, periodMs, { isRealTime: true })
    },
    /** Must be called when the reconcile of a key starts. */
    start: (key) => pending.delete(key),
  }
}
