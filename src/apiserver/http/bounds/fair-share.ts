/**
 * Lets a connection begin a number of requests in each turn of the event loop; the others wait for the next turn, in which
 * other connections are read too. What is reset while it waits costs nothing.
 */

/** More than connections of well-behaved clients begin at once. */
const perTurn = 32
/** From this many on it is noticed when a turn is over: most connections never have so many. */
const noticed = 8

export interface Startable {
  start(): void
}

export class FairShare {
  #begun = 0
  #waiting: Startable[] = []

  /** Starts a request at once or in a later turn, in the order of the calls. */
  take(request: Startable): void {
    if (this.#begun === perTurn) {
      this.#waiting.push(request)
      return
    }
    this.#begun++
    if (this.#begun === noticed) setImmediate(this.#nextTurn)
    request.start()
  }

  readonly #nextTurn = (): void => {
    const starting = this.#waiting.length <= perTurn ? this.#waiting : this.#waiting.slice(0, perTurn)
    this.#waiting = this.#waiting.slice(starting.length)
    this.#begun = starting.length
    if (this.#begun >= noticed) setImmediate(this.#nextTurn)
    for (const request of starting) request.start()
  }
}
