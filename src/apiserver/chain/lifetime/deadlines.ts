/**
 * Deadlines with one common time limit. A single timer serves all of them, since a timer per request would cost more
 * than most requests do.
 */
import { type Linked, LinkedList } from '../../../lib/collections/linked-list.ts'

const checkMs = 1000

export interface Deadline extends Linked<Deadline> {
  readonly at: number
  /** Called once, unless the deadline was removed before. */
  expire: () => void
}

export class Deadlines {
  readonly #limitMs: number
  readonly #running = new LinkedList<Deadline>()
  #isScheduled = false

  constructor(limitMs: number) {
    this.#limitMs = limitMs
  }

  /** Adds a deadline. `expire` is called at the latest a second after the limit. */
  add(expire: () => void): Deadline {
    const deadline: Deadline = { at: performance.now() + this.#limitMs, expire, older: undefined, newer: undefined }
    this.#running.add(deadline)
    if (!this.#isScheduled) this.#schedule()
    return deadline
  }

  /** Removes a deadline; it may have expired. */
  remove(deadline: Deadline): void {
    this.#running.remove(deadline)
  }

  #schedule(): void {
    this.#isScheduled = true
    setTimeout(() => this.#expireLate(), checkMs).unref()
  }

  #expireLate(): void {
    const now = performance.now()
    for (let deadline = this.#running.oldest; deadline && deadline.at <= now; deadline = this.#running.oldest) {
      this.remove(deadline)
      deadline.expire()
    }
    this.#isScheduled = false
    if (this.#running.oldest) this.#schedule()
  }
}
