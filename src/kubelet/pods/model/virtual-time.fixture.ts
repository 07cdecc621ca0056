/** Time that passes only when a test says so. */
interface Timer {
  readonly at: number
  readonly callback: () => void
}

export class VirtualTime {
  #now = Date.UTC(2026, 0, 1)
  readonly #timers = new Set<Timer>()

  readonly now = (): number => this.#now

  readonly schedule = (callback: () => void, ms: number): (() => void) => {
    const timer = { at: this.#now + ms, callback }
    this.#timers.add(timer)
    return () => void this.#timers.delete(timer)
  }

  sleep(ms: number): Promise<void> {
    return new Promise((resolve) => void this.schedule(resolve, ms))
  }

  /** Lets so many ms pass: timers fire in order, and what they lead to happens between them. */
  async pass(ms: number): Promise<void> {
    const end = this.#now + ms
    for (;;) {
      await settled()
      const next = [...this.#timers].sort((a, b) => a.at - b.at)[0]
      if (!next || next.at > end) break
      this.#now = Math.max(this.#now, next.at)
      this.#timers.delete(next)
      next.callback()
    }
    this.#now = end
  }
}

/** Lets pending promises settle. */
async function settled(): Promise<void> {
  for (let i = 0; i < 3; i++) await new Promise((resolve) => setImmediate(resolve))
}
