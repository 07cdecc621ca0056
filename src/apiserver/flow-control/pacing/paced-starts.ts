/**
 * The pace of those who have waited in a queue: a few begin in each turn of the event loop. One write of the store ends
 * many requests together, and all whom they made room for would execute in the same turn, before anybody is read who
 * need not wait at all.
 */

/** Fewer make shorter turns, and more of them: where the machine is busy with others, each turn waits for a core. */
const perTurn = 16

export class PacedStarts {
  #begun = 0
  #waiting: (() => void)[] = []

  /** Calls `start` at once or in a later turn, in the order of the calls. */
  take(start: () => void): void {
    if (this.#begun === perTurn) {
      this.#waiting.push(start)
      return
    }
    if (this.#begun++ === 0) setImmediate(this.#nextTurn)
    start()
  }

  readonly #nextTurn = (): void => {
    const starting = this.#waiting.splice(0, perTurn)
    this.#begun = starting.length
    if (this.#begun > 0) setImmediate(this.#nextTurn)
    for (const start of starting) start()
  }
}
