/** Answers that hold for some time. Of too many, those that were not asked for the longest go first. */

interface Kept<T> {
  readonly value: T
  /** On the clock that was given, ms. */
  readonly until: number
}

export class AnswerCache<T> {
  readonly #kept = new Map<string, Kept<T>>()
  readonly #most: number
  readonly #now: () => number

  constructor(most: number, now: () => number = () => performance.now()) {
    this.#most = most
    this.#now = now
  }

  get size(): number {
    return this.#kept.size
  }

  get(key: string): T | undefined {
    const kept = this.#kept.get(key)
    if (!kept) return undefined
    this.#kept.delete(key)
    if (kept.until <= this.#now()) return undefined
    this.#kept.set(key, kept)
    return kept.value
  }

  /** `forMs` 0: it is not kept. */
  set(key: string, value: T, forMs: number): void {
    this.#kept.delete(key)
    if (forMs <= 0) return
    if (this.#kept.size >= this.#most) {
      const [oldest] = this.#kept.keys()
      if (oldest !== undefined) this.#kept.delete(oldest)
    }
    this.#kept.set(key, { value, until: this.#now() + forMs })
  }
}
