/** A queue of asynchronous work with limited concurrency, in first-in, first-out order. */

/** Returns undefined if the work was synchronous. */
type Work = () => Promise<void> | undefined

export class TaskQueue {
  readonly #concurrency: number
  readonly #queued: Work[] = []
  #head = 0
  #running = 0

  constructor(concurrency: number) {
    this.#concurrency = concurrency
  }

  /** Queues `work`, which must not reject. */
  add(work: Work): void {
    this.#queued.push(work)
    this.#startNext()
  }

  /** Drops the queued work. */
  clear(): void {
    this.#queued.length = 0
    this.#head = 0
  }

  #startNext(): void {
    while (this.#running < this.#concurrency) {
      const work = this.#queued[this.#head]
      if (!work) return
      // The front is cut off in batches: shift() on a large array is slow.
      if (++this.#head > 1024) {
        this.#queued.splice(0, this.#head)
        this.#head = 0
      } else if (this.#head === this.#queued.length) this.clear()
      const done = work()
      if (!done) continue
      this.#running++
      void done.finally(() => {
        this.#running--
        this.#startNext()
      })
    }
  }
}
