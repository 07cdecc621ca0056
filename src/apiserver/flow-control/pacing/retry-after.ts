/**
 * When a refused client should come again: as long as a level refuses much, later and later, as in TCP's congestion
 * control; when that ends, a second earlier each second.
 */
const longestSeconds = 32

export class RetryAfter {
  seconds = 1
  #raised = 0
  #second = 0
  #count = 0
  /** Refusals of seconds that are over, the oldest first. */
  #history: { readonly second: number; readonly count: number }[] = []

  /** A request is refused in this second (of any clock). */
  refused(second: number): void {
    if (second === this.#second) {
      this.#count++
      return
    }
    this.#history.push({ second: this.#second, count: this.#count })
    this.#history = this.#history.filter((past) => this.#second - past.second <= longestSeconds)
    this.#second = second
    this.#count = 1
    this.#adjust(second)
  }

  #adjust(now: number): void {
    const recent = this.#history.filter(({ second }) => second < now && now - second <= this.seconds)
    const refused = recent.reduce((sum, { count }) => sum + count, 0)
    if (now - this.#raised >= this.seconds && refused >= 3 * this.seconds) {
      this.seconds = Math.min(2 * this.seconds, longestSeconds)
      this.#raised = now
    } else if (refused < this.seconds && this.seconds > 1) this.seconds--
  }
}
