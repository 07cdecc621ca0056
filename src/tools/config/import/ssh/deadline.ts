/** A deadline that is paused during prompts. */

export class Deadline {
  readonly #onExpired: () => void
  #remainingMs: number
  #since = performance.now()
  #timer: NodeJS.Timeout | undefined
  #ended = false

  /** `onExpired` is called after `ms`, unless `end` is called before. */
  constructor(ms: number, onExpired: () => void) {
    this.#onExpired = onExpired
    this.#remainingMs = ms
    this.#run()
  }

  /** Returns `answer`; the deadline is paused until it settles. */
  async pausedFor<T>(answer: Promise<T>): Promise<T> {
    clearTimeout(this.#timer)
    this.#remainingMs -= performance.now() - this.#since
    try {
      return await answer
    } finally {
      this.#run()
    }
  }

  end(): void {
    this.#ended = true
    clearTimeout(this.#timer)
  }

  #run(): void {
    // The answer may arrive after the end.
    if (this.#ended) return
    this.#since = performance.now()
    this.#timer = setTimeout(this.#onExpired, Math.max(0, this.#remainingMs))
  }
}
