/** Work in its turn: so much at once, the rest in the order in which it came. */

/** Gives nothing when there was nothing to wait for. */
type Work = () => Promise<void> | undefined

export class Lane {
  readonly #width: number
  readonly #waiting: Work[] = []
  #head = 0
  #running = 0

  constructor(width: number) {
    this.#width = width
  }

  /** `work` must not reject. */
  add(work: Work): void {
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
      const done = work()
      if (!done) continue
      this.#running++
      void done.finally(() => {
        this.#running--
        this.#next()
      })
    }
  }
}
