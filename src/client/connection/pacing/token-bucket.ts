/** A limit on how often something happens: so many at once, and so many a second from then on. */

export interface RateLimit {
  /** A second. */
  readonly qps: number
  /** At once. */
  readonly burst: number
}

export class TokenBucket {
  readonly #limit: RateLimit
  readonly #now: () => number
  #tokens: number
  #filled: number

  /** `now` gives milliseconds. */
  constructor(limit: RateLimit, now: () => number = () => performance.now()) {
    this.#limit = limit
    this.#now = now
    this.#tokens = limit.burst
    this.#filled = now()
  }

  /** Takes a token, which may be one of the future: in how many milliseconds it is there, 0 for now. */
  take(): number {
    this.#fill()
    this.#tokens--
    return this.#tokens >= 0 ? 0 : (-this.#tokens / this.#limit.qps) * 1000
  }

  /** Takes a token that is there; false, and nothing is taken, if there is none. */
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
