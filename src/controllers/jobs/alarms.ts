/** Keys that are looked at again at a certain time: each has one such time, however often it is asked for. */
import type { ReconcileContext } from '../../client/controller/controller.ts'
import { longestWaitMs } from '../longest-wait.ts'

/** An alarm this close may have rung already: timers are not exact. */
const closeMs = 50

export class Alarms {
  readonly #due = new Map<string, number>()
  readonly #now: () => number

  /** `now`: milliseconds. */
  constructor(now: () => number = Date.now) {
    this.#now = now
  }

  /** Looks at a key in so many ms, or before. */
  set(key: string, ms: number, { requeue }: Pick<ReconcileContext, 'requeue'>): void {
    const now = this.#now()
    const wait = Math.min(ms, longestWaitMs)
    const known = this.#due.get(key) ?? 0
    if (known > now + closeMs && known <= now + wait) return
    this.#due.set(key, now + wait)
    requeue(key, wait)
  }

  /** The key stands for nothing any more. */
  forget(key: string): void {
    this.#due.delete(key)
  }
}
