/** A queue of keys to look at: a key waits once however often it is added, is worked on by one at a time, and is tried again later when that fails. */

export interface WorkQueueOptions {
  /** Keys worked on at once; 1 unless said. */
  readonly concurrency?: number
  /** Does what a key needs. Called again later when it rejects. */
  readonly work: (key: string) => Promise<void>
  readonly failed: (key: string, error: unknown) => void
}

const shortestRetryMs = 5
const longestRetryMs = 60_000

export class WorkQueue {
  readonly #options: WorkQueueOptions
  readonly #waiting = new Set<string>()
  readonly #working = new Set<string>()
  /** Keys that came again while they were worked on. */
  readonly #again = new Set<string>()
  readonly #failures = new Map<string, number>()
  readonly #timers = new Set<NodeJS.Timeout>()
  #started = false
  #stopped = false
  #idle: (() => void) | undefined

  constructor(options: WorkQueueOptions) {
    this.#options = options
  }

  add(key: string): void {
    if (this.#stopped) return
    if (this.#working.has(key)) this.#again.add(key)
    else this.#waiting.add(key)
    this.#next()
  }

  /** Milliseconds from now. */
  addAfter(key: string, ms: number): void {
    if (this.#stopped) return
    const timer = setTimeout(() => {
      this.#timers.delete(timer)
      this.add(key)
    }, ms).unref()
    this.#timers.add(timer)
  }

  /** Keys are worked on from now on. */
  start(): void {
    this.#started = true
    this.#next()
  }

  /** Takes no more keys; resolves when those under way are done. */
  stop(): Promise<void> {
    this.#stopped = true
    this.#waiting.clear()
    for (const timer of this.#timers) clearTimeout(timer)
    if (this.#working.size === 0) return Promise.resolve()
    return new Promise((resolve) => {
      this.#idle = resolve
    })
  }

  #next(): void {
    const { concurrency = 1 } = this.#options
    while (this.#started && !this.#stopped && this.#working.size < concurrency) {
      const [key] = this.#waiting
      if (key === undefined) return
      this.#waiting.delete(key)
      this.#working.add(key)
      void this.#work(key)
    }
  }

  async #work(key: string): Promise<void> {
    try {
      await this.#options.work(key)
      this.#failures.delete(key)
    } catch (error) {
      if (!this.#stopped) {
        const failures = this.#failures.get(key) ?? 0
        this.#failures.set(key, failures + 1)
        this.#options.failed(key, error)
        this.addAfter(key, Math.min(shortestRetryMs * 2 ** failures, longestRetryMs))
      }
    }
    this.#working.delete(key)
    if (this.#again.delete(key)) this.add(key)
    if (this.#working.size === 0) this.#idle?.()
    this.#next()
  }
}
