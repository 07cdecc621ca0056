/**
 * Counts the requests that a client resets on one connection. Clients cancel many watches at once, and single requests
 * that take too long; attacks (CVE-2023-44487) do nothing else.
 */
import type { ListenerLimits } from './limits.ts'

/** A stream weighs less, as cancelling is the normal end of a watch. */
const weights = { request: 1, stream: 0.25 } as const

export class ResetLimit {
  readonly #burst: number
  readonly #perMs: number
  #remaining: number
  #counted = 0

  constructor({ resets, resetsPerSecond }: Pick<ListenerLimits, 'resets' | 'resetsPerSecond'>) {
    this.#burst = resets
    this.#perMs = resetsPerSecond / 1000
    this.#remaining = resets
  }

  /** Counts one reset at the time `now`, in ms. Returns false if there are too many. */
  count(reset: keyof typeof weights, now: number): boolean {
    this.#remaining = Math.min(this.#burst, this.#remaining + (now - this.#counted) * this.#perMs) - weights[reset]
    this.#counted = now
    return this.#remaining >= 0
  }
}
