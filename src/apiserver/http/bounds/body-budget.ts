/**
 * The limit on the total size of all request bodies in progress. Small bodies have a reserve, so that large ones cannot
 * lock them out.
 */
import type { ListenerLimits } from './limits.ts'

export class BodyBudget {
  readonly #limits: Pick<ListenerLimits, 'bodyBytes' | 'smallBodyReserve' | 'smallBodyBytes'>
  #held = 0

  constructor(limits: Pick<ListenerLimits, 'bodyBytes' | 'smallBodyReserve' | 'smallBodyBytes'>) {
    this.#limits = limits
  }

  /** Total bytes of all bodies in progress. */
  get held(): number {
    return this.#held
  }

  /**
   * Reserves `more` bytes for a body that holds `held`; returns false if the limit does not allow it. They count until
   * `give`.
   */
  reserve(held: number, more: number): boolean {
    const { bodyBytes, smallBodyReserve, smallBodyBytes } = this.#limits
    const bound = held + more <= smallBodyBytes ? bodyBytes : bodyBytes - smallBodyReserve
    if (this.#held + more > bound) return false
    this.#held += more
    return true
  }

  release(bytes: number): void {
    this.#held -= bytes
  }
}
