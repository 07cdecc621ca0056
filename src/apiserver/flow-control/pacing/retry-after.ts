/**
 * Computes Retry-After: it doubles as long as a level rejects many requests, as in TCP's congestion control; afterwards
 * it falls by a second each second.
 */
const maxSeconds = 32

export class RetryAfter {
  seconds = 1
  #raised = 0
  #second = 0
  #count = 0
  /** The rejections of past seconds, the oldest first. */
  #history: { readonly second: number; readonly count: number }[] = []

  /** Counts a rejection in this second (of any clock). */
  countRejection(second: number): void {
    if (second === this.#second) {
      this.#count++
      return
    }
    this.#history.push({ second: this.#second, count: this.#count })
    this.#history = this.#history.filter((past) => this.#second - past.second <= maxSeconds)
    this.#second = second
    this.#count = 1
    this.#adjust(second)
  }

  #adjust(now: number): void {
    const recent = this.#history.filter(({ second }) => second < now && now - second <= this.seconds)
    const refused = recent.reduce((sum, { count }) => sum + count, 0)
    if (now - this.#raised >= this.seconds && refused >= 3 * this.seconds) {
      this.seconds = Math.min(2 * this.seconds, maxSeconds)
      this.#raised = now
    } else if (refused < this.seconds && this.seconds > 1) this.seconds--
  }
}
