/** Delayed requeues with at most one pending time for each key. */
import type { ReconcileContext } from '../../client/controller/controller.ts'
import { maxDelayMs } from '../max-delay.ts'

/** An alarm this close, in ms, may have fired already: timers are not exact. */
const closeMs = 50

export class Alarms {
  readonly #due = new Map<string, number>()
  readonly #now: () => number

  /** `now` returns ms. */
  constructor(now: () => number = Date.now) {
    this.#now = now
  }

  /** Requeues a key after `ms` or earlier. */
  set(key: string, ms: number, { requeue }: Pick<ReconcileContext, 'requeue'>): void {
    const now = this.#now()
    const wait = Math.min(ms, maxDelayMs)
    const known = this.#due.get(key) ?? 0
    if (known > now + closeMs && known <= now + wait) return
    this.#due.set(key, now + wait)
    requeue(key, wait)
  }

  /** Drops the alarm of a deleted object. */
  forget(key: string): void {
    this.#due.delete(key)
  }
}
