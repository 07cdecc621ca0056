/** Promises for conditions that are checked again after each change. */
import type { Alarm, Clock } from '../../lib/clock/clock.ts'

interface Waiter {
  check(): void
}

export class Waiters {
  readonly #waiters = new Set<Waiter>()
  readonly #clock: Pick<Clock, 'after'>

  constructor(clock: Pick<Clock, 'after'>) {
    this.#clock = clock
  }

  /** Checks all conditions after a change. */
  check(): void {
    for (const waiter of [...this.#waiters]) waiter.check()
  }

  /**
   * Resolves when `isTrue` returns true. Rejects with its exception, with `timeoutMessage` after `timeoutMs` of the
   * clock, or with the reason of an abort.
   */
  async until(
    isTrue: () => boolean,
    timeoutMs: number,
    signal: AbortSignal,
    timeoutMessage = 'context deadline exceeded',
  ): Promise<void> {
    let alarm: Alarm | undefined
    let waiter: Waiter | undefined
    let onAbort: (() => void) | undefined
    signal.throwIfAborted()
    try {
      await new Promise<void>((resolve, reject) => {
        const check = (): void => {
          try {
            if (isTrue()) resolve()
          } catch (error) {
            reject(error)
          }
        }
        waiter = { check }
        this.#waiters.add(waiter)
        alarm = this.#clock.after(timeoutMs, () => reject(new Error(timeoutMessage)))
        onAbort = () => reject(signal.reason)
        signal.addEventListener('abort', onAbort)
        check()
      })
    } finally {
      alarm?.cancel()
      if (onAbort) signal.removeEventListener('abort', onAbort)
      if (waiter) this.#waiters.delete(waiter)
    }
  }
}
