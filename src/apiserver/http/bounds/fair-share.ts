/**
 * Lets a connection start a number of requests in each turn of the event loop; the others wait for the next turn, in
 * which other connections are read too. Short turns start many; a turn that already takes long starts only the first
 * few. Requests that are reset while they wait cost nothing.
 */
import type { TurnClock } from './turn-clock.ts'

/** Requests per connection and turn: more than well-behaved clients start at once. */
const perTurn = 32
/**
 * Requests per connection and turn that are started however long the turn takes: most connections never have so many.
 */
const alwaysPerTurn = 4
/**
 * In ms. A client with a single request waits for a turn, and for the responses to all requests started in the turn
 * before.
 */
const longTurnMs = 10

export interface Startable {
  start(): void
}

export class FairShare {
  readonly #turn: Pick<TurnClock, 'ageMs'>
  #begun = 0
  #waiting: Startable[] = []

  /** The clock is shared by all connections. */
  constructor(turn: Pick<TurnClock, 'ageMs'>) {
    this.#turn = turn
  }

  /** Starts a request immediately or in a later turn, in the order of the calls. */
  schedule(request: Startable): void {
    if (this.#waiting.length > 0 || !this.#mayBegin()) this.#waiting.push(request)
    else this.#begin(request)
  }

  #mayBegin(): boolean {
    return this.#begun < alwaysPerTurn || (this.#begun < perTurn && this.#turn.ageMs < longTurnMs)
  }

  #begin(request: Startable): void {
    if (++this.#begun === alwaysPerTurn) setImmediate(this.#nextTurn)
    request.start()
  }

  readonly #nextTurn = (): void => {
    const waiting = this.#waiting
    this.#begun = 0
    let at = 0
    for (; at < waiting.length && this.#mayBegin(); at++) this.#begin(waiting[at]!)
    this.#waiting = waiting.slice(at)
  }
}
