/**
 * What has to be done within a time that is the same for all: who is late expires. One timer looks after all of them,
 * since a timer a request would cost more than most requests do.
 */
import { Chain, type Linked } from '../../../lib/chain.ts'

const lookMs = 1000

export interface Deadline extends Linked<Deadline> {
  readonly at: number
  /** Called once, if it has not been removed by then. */
  expire: () => void
}

export class Deadlines {
  readonly #limitMs: number
  readonly #running = new Chain<Deadline>()
  #isLooking = false

  constructor(limitMs: number) {
    this.#limitMs = limitMs
  }

  /** `expire` is called when the time is over, at most a second later. */
  add(expire: () => void): Deadline {
    const deadline: Deadline = { at: performance.now() + this.#limitMs, expire, older: undefined, newer: undefined }
    this.#running.add(deadline)
    if (!this.#isLooking) this.#lookLater()
    return deadline
  }

  /** It is done; also if it has expired. */
  remove(deadline: Deadline): void {
    this.#running.remove(deadline)
  }

  #lookLater(): void {
    this.#isLooking = true
    setTimeout(() => this.#look(), lookMs).unref()
  }

  #look(): void {
    const now = performance.now()
    for (let deadline = this.#running.oldest; deadline && deadline.at <= now; deadline = this.#running.oldest) {
      this.remove(deadline)
      deadline.expire()
    }
    this.#isLooking = false
    if (this.#running.oldest) this.#lookLater()
  }
}
