/** Work in its turn: so much at once, the rest in the order in which it came. */

export class Lane {
  readonly #width: number
  readonly #waiting: (() => Promise<void>)[] = []
  #head = 0
  #running = 0

  constructor(width: number) {
    this.#width = width
  }

  /** `work` must not reject. */
  add(work: () => Promise<void>): void {
    this.#waiting.push(work)
    this.#next()
  }

  /** Lets go of what waits. */
  clear(): void {
    this.#waiting.length = 0
    this.#head = 0
  }

  #next(): void {
    while (this.#running < this.#width) {
      const work = this.#waiting[this.#head]
      if (!work) return
      // The front is cut off now and then: an array that loses its first again and again is slow.
      if (++this.#head > 1024) {
        this.#waiting.splice(0, this.#head)
        this.#head = 0
      } else if (this.#head === this.#waiting.length) this.clear()
      this.#running++
      void work().finally(() => {
        this.#running--
        this.#next()
      })
    }
  }
}
