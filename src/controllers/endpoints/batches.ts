/**
 * Changes that come within a period are looked at together: each key once, when the period that began with its first
 * change is over.
 */
import type { ReconcileContext } from '../../client/controller/controller.ts'

/** Says to look at a key again. */
export type Notice = (key: string, context: ReconcileContext) => void

/** `periodMs` is 0 for at once. */
export function batches(periodMs: number): { readonly notice: Notice; readonly begin: (key: string) => void } {
  const noticed = new Set<string>()
  return {
    notice(key, { requeue }) {
      if (periodMs <= 0) return requeue(key)
      if (noticed.has(key)) return
      noticed.add(key)
      requeue(key, periodMs)
    },
    /** To be called when the key is looked at. */
    begin: (key) => noticed.delete(key),
  }
}
