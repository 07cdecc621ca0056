/** Promises for conditions that are checked again after each change. */

interface Waiter {
  check(): void
}

export class Waiters {
  readonly #waiters = new Set<Waiter>()

  /** Checks all conditions after a change. */
  check(): void {
    for (const waiter of [...this.#waiters]) waiter.check()
  }

  /**
   * Resolves when `isTrue` returns true. Rejects with its exception, after `timeoutMs` with `timeoutMessage`, or with
   * the reason of an abort.
   */
  async until(
    isTrue: () => boolean,
    timeoutMs: number,
    signal: AbortSignal,
    timeoutMessage = 'context deadline exceeded',
  ): Promise<void> {
    let timer: NodeJS.Timeout | undefined
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
        timer = setTimeout(() => reject(new Error(timeoutMessage)), timeoutMs)
        onAbort = () => reject(signal.reason)
        signal.addEventListener('abort', onAbort)
        check()
      })
    } finally {
      clearTimeout(timer)
      if (onAbort) signal.removeEventListener('abort', onAbort)
      if (waiter) this.#waiters.delete(waiter)
    }
  }
}
