/** The back-off for replacing failed pods of a DaemonSet on a node, so that a node that rejects them is not flooded. */
const firstMs = 1000
const maxMs = 15 * 60_000

interface BackoffEntry {
  readonly ms: number
  readonly since: number
}

export class FailedPodsBackoff {
  readonly #entries = new Map<string, BackoffEntry>()

  /**
   * Returns the time in ms until the failed pod of a key (set, generation and node) may be deleted. A result of 0
   * doubles the next delay. `now` is in ms.
   */
  delay(key: string, now: number): number {
    const isExpired = ({ since }: BackoffEntry): boolean => now - since > 2 * maxMs
    for (const [old, entry] of this.#entries) if (isExpired(entry)) this.#entries.delete(old)
    const entry = this.#entries.get(key)
    if (entry && now - entry.since < entry.ms) return entry.since + entry.ms - now
    this.#entries.set(key, { ms: entry ? Math.min(entry.ms * 2, maxMs) : firstMs, since: now })
    return 0
  }
}
