/**
 * The pace of rejections. Clients that retry immediately, despite Retry-After, would take most of the server's time
 * just to be rejected; so if there are many, most rejections are delayed for a moment. They are sent one after the
 * other: sent together, their clients would return together and delay everybody else. Clients that respect Retry-After
 * are not affected.
 */

/** The number of rejections per period that are sent immediately. */
const immediatePerPeriod = 10
const periodMs = 50
const delayMs = 250
const tickMs = 10
/** The maximum number of delayed rejections: each retains its connection and request in memory. */
const maxDelayed = 10_000

interface Delayed {
  readonly due: number
  readonly release: () => void
}

export class DelayedRejections {
  #periodEnd = 0
  #sent = 0
  #delayed: Delayed[] = []
  /** The number of rejections per tick: enough for the largest number that has waited together. */
  #perTick = 0
  #ticking: NodeJS.Timeout | undefined

  /** Resolves when the rejection is to be sent; undefined if that is now. */
  delay(): Promise<void> | undefined {
    const now = performance.now()
    if (now >= this.#periodEnd) {
      this.#periodEnd = now + periodMs
      this.#sent = 0
    }
    if (this.#sent < immediatePerPeriod || this.#delayed.length >= maxDelayed) {
      this.#sent++
      return undefined
    }
    return new Promise((release) => {
      this.#delayed.push({ due: now + delayMs, release })
      this.#perTick = Math.max(this.#perTick, Math.ceil((this.#delayed.length * tickMs) / delayMs))
      this.#ticking ??= setInterval(() => this.#releaseDue(), tickMs).unref()
    })
  }

  #releaseDue(): void {
    const now = performance.now()
    let due = 0
    while (due < this.#perTick && due < this.#delayed.length && this.#delayed[due]!.due <= now) due++
    for (const { release } of this.#delayed.splice(0, due)) release()
    if (this.#delayed.length > 0) return
    clearInterval(this.#ticking)
    this.#ticking = undefined
    this.#perTick = 0
  }
}
