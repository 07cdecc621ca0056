/** Responses that are cached for some time. If there are too many, the least recently used are dropped first. */

interface CachedAnswer<T> {
  readonly value: T
  /** In ms of the given clock. */
  readonly until: number
}

export class AnswerCache<T> {
  readonly #answers = new Map<string, CachedAnswer<T>>()
  readonly #maxSize: number
  readonly #now: () => number

  constructor(maxSize: number, now: () => number = () => performance.now()) {
    this.#maxSize = maxSize
    this.#now = now
  }

  get size(): number {
    return this.#answers.size
  }

  get(key: string): T | undefined {
    const cached = this.#answers.get(key)
    if (!cached) return undefined
    this.#answers.delete(key)
    if (cached.until <= this.#now()) return undefined
    this.#answers.set(key, cached)
    return cached.value
  }

  /** Caches a value; `forMs` 0: does not. */
  set(key: string, value: T, forMs: number): void {
    this.#answers.delete(key)
    if (forMs <= 0) return
    if (this.#answers.size >= this.#maxSize) {
      const [oldest] = this.#answers.keys()
      if (oldest !== undefined) this.#answers.delete(oldest)
    }
    this.#answers.set(key, { value, until: this.#now() + forMs })
  }
}
