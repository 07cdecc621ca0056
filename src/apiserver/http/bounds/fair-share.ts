/**
 * Lets a connection begin some requests in each turn of the event loop; the others wait for the next turn, in which
 * other connections are read too. While turns are short that is many; in one that is long already, only the first few.
 * What is reset while it waits costs nothing.
 */
import type { TurnClock } from './turn-clock.ts'

/** More than connections of well-behaved clients begin at once. */
const perTurn = 32
/** However long the turn: most connections never have so many. */
const always = 4
/** Who asks for one thing waits for a turn, and for the answers to all that began in the one before. */
const longTurnMs = 10

export interface Startable {
  start(): void
}

export class FairShare {
  readonly #turn: Pick<TurnClock, 'ageMs'>
  #begun = 0
  #waiting: Startable[] = []

  /** The clock is one for all connections. */
  constructor(turn: Pick<TurnClock, 'ageMs'>) {
    this.#turn = turn
  }

  /** Starts a request at once or in a later turn, in the order of the calls. */
  take(request: Startable): void {
    if (this.#waiting.length > 0 || !this.#mayBegin()) this.#waiting.push(request)
    else this.#begin(request)
  }

  #mayBegin(): boolean {
    return this.#begun < always || (this.#begun < perTurn && this.#turn.ageMs < longTurnMs)
  }

  #begin(request: Startable): void {
    if (++this.#begun === always) setImmediate(this.#nextTurn)
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
