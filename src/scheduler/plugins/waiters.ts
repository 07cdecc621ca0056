/** Those who wait for something to become true, and look whenever something has changed. */

interface Waiter {
  look(): void
}

export class Waiters {
  readonly #waiting = new Set<Waiter>()

  /** Something has changed. */
  look(): void {
    for (const waiter of [...this.#waiting]) waiter.look()
  }

  /**
   * Resolves when `isTrue` is; rejects with what it throws, after `timeoutMs` with what is said of that, and with the
   * reason when it is called off.
   */
  async until(
    isTrue: () => boolean,
    timeoutMs: number,
    signal: AbortSignal,
    tooLate = 'context deadline exceeded',
  ): Promise<void> {
    let timer: NodeJS.Timeout | undefined
    let waiter: Waiter | undefined
    let calledOff: (() => void) | undefined
    signal.throwIfAborted()
    try {
      await new Promise<void>((resolve, reject) => {
        const look = (): void => {
          try {
            if (isTrue()) resolve()
          } catch (error) {
            reject(error)
          }
        }
        waiter = { look }
        this.#waiting.add(waiter)
        timer = setTimeout(() => reject(new Error(tooLate)), timeoutMs)
        calledOff = () => reject(signal.reason)
        signal.addEventListener('abort', calledOff)
        look()
      })
    } finally {
      clearTimeout(timer)
      if (calledOff) signal.removeEventListener('abort', calledOff)
      if (waiter) this.#waiting.delete(waiter)
    }
  }
}
