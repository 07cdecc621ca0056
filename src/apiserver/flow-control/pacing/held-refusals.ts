/**
 * The pace of refusals. Clients that come again at once, whatever they are told, would take most of the server's time
 * just to be refused; so where many are, most of them wait for their refusal a moment. They are told one after the
 * other: told together, they would come again together, and everybody else would wait behind them. Those who keep to
 * Retry-After notice nothing of it.
 */

/** In a period so many are told at once. */
const atOnce = 10
const periodMs = 50
const holdMs = 250
const tickMs = 10
/** More do not wait: each keeps its connection and its request in memory. */
const mostHeld = 10_000

interface Held {
  readonly due: number
  readonly release: () => void
}

export class HeldRefusals {
  #periodEnd = 0
  #told = 0
  #held: Held[] = []
  /** So many are told in a tick: as many as it takes for the most that have waited together. */
  #perTick = 0
  #ticking: NodeJS.Timeout | undefined

  /** Resolves when a client is to be told; undefined is at once. */
  hold(): Promise<void> | undefined {
    const now = performance.now()
    if (now >= this.#periodEnd) {
      this.#periodEnd = now + periodMs
      this.#told = 0
    }
    if (this.#told < atOnce || this.#held.length >= mostHeld) {
      this.#told++
      return undefined
    }
    return new Promise((release) => {
      this.#held.push({ due: now + holdMs, release })
      this.#perTick = Math.max(this.#perTick, Math.ceil((this.#held.length * tickMs) / holdMs))
      this.#ticking ??= setInterval(() => this.#releaseDue(), tickMs).unref()
    })
  }

  #releaseDue(): void {
    const now = performance.now()
    let due = 0
    while (due < this.#perTick && due < this.#held.length && this.#held[due]!.due <= now) due++
    for (const { release } of this.#held.splice(0, due)) release()
    if (this.#held.length > 0) return
    clearInterval(this.#ticking)
    this.#ticking = undefined
    this.#perTick = 0
  }
}
