/**
 * The pace at which queued requests start: a few in each turn of the event loop. One write of the store completes many
 * requests together, and all those that get their seats would execute in the same turn, before new requests that need
 * not wait are read.
 */

/** Fewer make turns shorter but more numerous: on a busy machine each turn waits for a core. */
const perTurn = 16

export class PacedStarts {
  #begun = 0
  #waiting: (() => void)[] = []

  /** Calls `start` immediately or in a later turn, in the order of the calls. */
  schedule(start: () => void): void {
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
