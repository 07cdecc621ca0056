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

  /** Resolves when `isTrue` is; rejects with what it throws, and after `timeoutMs` with what is said of that. */
  async until(isTrue: () => boolean, timeoutMs: number, tooLate = 'context deadline exceeded'): Promise<void> {
    let timer: NodeJS.Timeout | undefined
    let waiter: Waiter | undefined
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
        look()
      })
    } finally {
      clearTimeout(timer)
      if (waiter) this.#waiting.delete(waiter)
    }
  }
}
