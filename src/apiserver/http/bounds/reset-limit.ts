/**
 * Counts the requests that a client resets on one connection. Clients cancel many watches at once, and now and then
 * what takes them too long; attacks (CVE-2023-44487) do nothing else.
 */
import type { ListenerLimits } from './limits.ts'

/** Cancelling is how watches end. */
const weights = { request: 1, stream: 0.25 } as const

export class ResetLimit {
  readonly #burst: number
  readonly #perMs: number
  #left: number
  #counted = 0

  constructor({ resets, resetsPerSecond }: Pick<ListenerLimits, 'resets' | 'resetsPerSecond'>) {
    this.#burst = resets
    this.#perMs = resetsPerSecond / 1000
    this.#left = resets
  }

  /** Counts one at the time `now`, in ms. False when they are too many. */
  count(reset: keyof typeof weights, now: number): boolean {
    this.#left = Math.min(this.#burst, this.#left + (now - this.#counted) * this.#perMs) - weights[reset]
    this.#counted = now
    return this.#left >= 0
  }
}
