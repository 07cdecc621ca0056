/**
 * Lets the long part of requests begin, which is what is done with a body that has come: as many in a turn of the event loop as fit into a few
 * milliseconds; the others wait for the next turns, in their order. Who only asks, without a body, passes between them.
 */
import type { TurnClock } from './turn-clock.ts'

/** What others wait for at most, before and after they are read. */
const longTurnMs = 10

export class TurnGate {
  readonly #turn: Pick<TurnClock, 'ageMs'>
  #waiting = 0
  /** Until when those who have waited may begin in this turn. */
  #until: number | undefined

  constructor(turn: Pick<TurnClock, 'ageMs'>) {
    this.#turn = turn
  }

  /** Calls `begin` at once or in a later turn. */
  pass(begin: () => void): void {
    if (this.#waiting === 0 && this.#turn.ageMs < longTurnMs) begin()
    else {
      this.#waiting++
      setImmediate(this.#look, begin)
    }
  }

  readonly #look = (begin: () => void): void => {
    const now = performance.now()
    if (this.#until === undefined) {
      this.#until = now + longTurnMs
      setImmediate(this.#over)
    }
    if (now < this.#until) {
      this.#waiting--
      begin()
    } else setImmediate(this.#look, begin)
  }

  readonly #over = (): void => {
    this.#until = undefined
  }
}
