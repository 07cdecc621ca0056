/** Runs image pulls: one after the other, a few at a time, or all at once; and not too many a second. */

export interface PullLimits {
  /** `serializeImagePulls`: one at a time. */
  readonly isSerial: boolean
  /** `maxParallelImagePulls`; undefined: no limit. */
  readonly maxParallel?: number
  /** `registryPullQPS`; 0: no limit. */
  readonly perSecond: number
  readonly burst: number
}

export class PullQueue {
  readonly #limits: PullLimits
  readonly #now: () => number
  readonly #waiting = new Set<() => void>()
  #running = 0
  /** How many pulls may start now, and when that was so. */
  #tokens: number
  #counted: number

  constructor(limits: PullLimits, now: () => number) {
    this.#limits = limits
    this.#now = now
    this.#tokens = limits.burst
    this.#counted = now()
  }

  /** Runs a pull when it is its turn. Rejects with the signal's reason if that ends the wait. */
  async run<T>(pull: () => Promise<T>, signal: AbortSignal): Promise<T> {
    await this.#turn(signal)
    try {
      if (!this.#takeToken()) throw new Error('pull QPS exceeded')
      return await pull()
    } finally {
      this.#running--
      this.#startNext()
    }
  }

  get #maxRunning(): number {
    return this.#limits.isSerial ? 1 : (this.#limits.maxParallel ?? Number.POSITIVE_INFINITY)
  }

  async #turn(signal: AbortSignal): Promise<void> {
    signal.throwIfAborted()
    if (this.#running < this.#maxRunning) {
      this.#running++
      return
    }
    await new Promise<void>((resolve, reject) => {
      const leave = (): void => {
        this.#waiting.delete(start)
        reject(signal.reason)
      }
      const start = (): void => {
        signal.removeEventListener('abort', leave)
        resolve()
      }
      this.#waiting.add(start)
      signal.addEventListener('abort', leave, { once: true })
    })
  }

  #startNext(): void {
    for (const start of this.#waiting) {
      if (this.#running >= this.#maxRunning) return
      this.#waiting.delete(start)
      this.#running++
      start()
    }
  }

  #takeToken(): boolean {
    const { perSecond, burst } = this.#limits
    if (perSecond <= 0) return true
    const now = this.#now()
    this.#tokens = Math.min(burst, this.#tokens + ((now - this.#counted) / 1000) * perSecond)
    this.#counted = now
    if (this.#tokens < 1) return false
    this.#tokens--
    return true
  }
}
