/** A deadline that waits while somebody is asked something. */

export class Deadline {
  readonly #passed: () => void
  #leftMs: number
  #since = performance.now()
  #timer: NodeJS.Timeout | undefined
  #ended = false

  /** `passed` is called after `ms`, unless the deadline ends before. */
  constructor(ms: number, passed: () => void) {
    this.#passed = passed
    this.#leftMs = ms
    this.#run()
  }

  /** What `answer` gives; until then no time passes. */
  async pausedFor<T>(answer: Promise<T>): Promise<T> {
    clearTimeout(this.#timer)
    this.#leftMs -= performance.now() - this.#since
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
    // An answer may come when nobody waits any more.
    if (this.#ended) return
    this.#since = performance.now()
    this.#timer = setTimeout(this.#passed, Math.max(0, this.#leftMs))
  }
}
