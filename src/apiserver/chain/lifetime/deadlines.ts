/**
 * What has to be done within a time that is the same for all: who is late expires. One timer looks after all of them, since a timer a
 * request would cost more than most requests do. They are a chain, the oldest first: a Set would keep those alive that are long gone
 * (docs/decisions/0010).
 */

const lookMs = 1000

export interface Deadline {
  readonly at: number
  /** Called once, if it has not been removed by then. */
  expire: () => void
  older: Deadline | undefined
  newer: Deadline | undefined
}

export class Deadlines {
  readonly #limitMs: number
  #oldest: Deadline | undefined
  #newest: Deadline | undefined
  #isLooking = false

  constructor(limitMs: number) {
    this.#limitMs = limitMs
  }

  /** `expire` is called when the time is over, at most a second later. */
  add(expire: () => void): Deadline {
    const deadline: Deadline = { at: performance.now() + this.#limitMs, expire, older: this.#newest, newer: undefined }
    if (this.#newest) this.#newest.newer = deadline
    else this.#oldest = deadline
    this.#newest = deadline
    if (!this.#isLooking) this.#lookLater()
    return deadline
  }

  /** It is done; also if it has expired. */
  remove(deadline: Deadline): void {
    const { older, newer } = deadline
    if (!older && this.#oldest !== deadline) return
    if (older) older.newer = newer
    else this.#oldest = newer
    if (newer) newer.older = older
    else this.#newest = older
    deadline.older = undefined
    deadline.newer = undefined
  }

  #lookLater(): void {
    this.#isLooking = true
    setTimeout(() => this.#look(), lookMs).unref()
  }

  #look(): void {
    const now = performance.now()
    for (let oldest = this.#oldest; oldest && oldest.at <= now; oldest = this.#oldest) {
      this.remove(oldest)
      oldest.expire()
    }
    this.#isLooking = false
    if (this.#oldest) this.#lookLater()
  }
}
