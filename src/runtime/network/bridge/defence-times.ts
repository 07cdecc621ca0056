/** The times at which pods' addresses were defended: often enough to win, too seldom for a storm of announcements. */

/** DEFEND_INTERVAL of RFC 5227, in ms. */
export const defendIntervalMs = 10_000

/**
 * The rule for hosts that never give up an address (RFC 5227, section 2.4, c): one announcement after a conflict, and
 * none for another conflict within the interval, since two such hosts would answer each other for ever.
 */
export class DefenceTimes {
  readonly #lastMs = new Map<string, number>()

  /** Returns true if the address may be defended now, which counts as a defence. */
  take(id: string, nowMs: number): boolean {
    const last = this.#lastMs.get(id)
    if (last !== undefined && nowMs - last < defendIntervalMs) return false
    this.#lastMs.set(id, nowMs)
    return true
  }

  forget(id: string): void {
    this.#lastMs.delete(id)
  }
}
