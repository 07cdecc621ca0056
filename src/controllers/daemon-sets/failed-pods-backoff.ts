/**
 * How soon a failed pod of a DaemonSet is replaced on a node: at first at once, then less and less often, or a node
 * that refuses it would never rest.
 */
const firstMs = 1000
const longestMs = 15 * 60_000

interface Pause {
  readonly ms: number
  readonly since: number
}

export class FailedPodsBackoff {
  readonly #pauses = new Map<string, Pause>()

  /**
   * The milliseconds until the pod of a key (the set at a generation, and the node) may go; 0 for now, which makes the
   * next pause longer. `now` in milliseconds.
   */
  delay(key: string, now: number): number {
    const isOver = ({ since }: Pause): boolean => now - since > 2 * longestMs
    for (const [old, pause] of this.#pauses) if (isOver(pause)) this.#pauses.delete(old)
    const pause = this.#pauses.get(key)
    if (pause && now - pause.since < pause.ms) return pause.since + pause.ms - now
    this.#pauses.set(key, { ms: pause ? Math.min(pause.ms * 2, longestMs) : firstMs, since: now })
    return 0
  }
}
