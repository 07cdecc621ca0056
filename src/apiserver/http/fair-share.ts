/**
 * Lets a connection begin a number of requests in each turn of the event loop; the others wait for the next turn, in which
 * other connections are read too. What is reset while it waits costs nothing.
 */

/** More than connections of well-behaved clients begin at once. */
const perTurn = 32

export class FairShare {
  #begun = 0
  #waiting: (() => void)[] = []
  #scheduled = false

  /** Calls `start` at once or in a later turn, in the order of the calls. */
  take(start: () => void): void {
    if (!this.#scheduled) {
      this.#scheduled = true
      setImmediate(this.#nextTurn)
    }
    if (this.#begun < perTurn && this.#waiting.length === 0) {
      this.#begun++
      start()
    } else this.#waiting.push(start)
  }

  readonly #nextTurn = (): void => {
    const starting = this.#waiting.length <= perTurn ? this.#waiting : this.#waiting.slice(0, perTurn)
    this.#waiting = this.#waiting.slice(starting.length)
    this.#begun = starting.length
    this.#scheduled = starting.length > 0
    if (this.#scheduled) setImmediate(this.#nextTurn)
    for (const start of starting) start()
  }
}
