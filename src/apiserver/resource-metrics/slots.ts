/** Limits how many calls run at the same time; others wait in order. */
export class Slots {
  readonly #size: number
  #used = 0
  readonly #waiting: (() => void)[] = []

  constructor(size: number) {
    this.#size = size
  }

  /** Resolves or rejects as the call. */
  async run<T>(call: () => Promise<T>): Promise<T> {
    if (this.#used >= this.#size) await new Promise<void>((resolve) => this.#waiting.push(resolve))
    else this.#used++
    try {
      return await call()
    } finally {
      // A slot is handed over to the next call, or returned.
      const next = this.#waiting.shift()
      if (next) next()
      else this.#used--
    }
  }
}
