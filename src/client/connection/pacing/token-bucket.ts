/** A rate limit: a burst, then a number per second. */

/** A limit for requests: a token bucket. */
export interface RateLimit {
  /** Tokens per second. */
  readonly qps: number
  /** Tokens that can be taken at the same time. */
  readonly burst: number
}

export class TokenBucket {
  readonly #limit: RateLimit
  readonly #now: () => number
  #tokens: number
  #filled: number

  /** `now` returns ms. */
  constructor(limit: RateLimit, now: () => number = () => performance.now()) {
    this.#limit = limit
    this.#now = now
    this.#tokens = limit.burst
    this.#filled = now()
  }

  /** Takes a token, possibly in advance. Returns the ms until it is available, or 0. */
  take(): number {
    this.#fill()
    this.#tokens--
    return this.#tokens >= 0 ? 0 : (-this.#tokens / this.#limit.qps) * 1000
  }

  /** Takes a token if one is available; returns false otherwise. */
  tryTake(): boolean {
    this.#fill()
    if (this.#tokens < 1) return false
    this.#tokens--
    return true
  }

  #fill(): void {
    const now = this.#now()
    this.#tokens = Math.min(this.#limit.burst, this.#tokens + ((now - this.#filled) / 1000) * this.#limit.qps)
    this.#filled = now
  }
}
