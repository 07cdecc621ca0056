/**
 * The one bound on all request bodies under way. Small bodies have a reserve, so that large ones cannot lock them out.
 */
import type { ListenerLimits } from './limits.ts'

export class BodyBudget {
  readonly #limits: Pick<ListenerLimits, 'bodyBytes' | 'smallBodyReserve' | 'smallBodyBytes'>
  #held = 0

  constructor(limits: Pick<ListenerLimits, 'bodyBytes' | 'smallBodyReserve' | 'smallBodyBytes'>) {
    this.#limits = limits
  }

  /** Bytes of all bodies under way. */
  get held(): number {
    return this.#held
  }

  /** Whether a body that holds `held` bytes may hold `more` of them; if so they count until they are given back. */
  take(held: number, more: number): boolean {
    const { bodyBytes, smallBodyReserve, smallBodyBytes } = this.#limits
    const bound = held + more <= smallBodyBytes ? bodyBytes : bodyBytes - smallBodyReserve
    if (this.#held + more > bound) return false
    this.#held += more
    return true
  }

  give(bytes: number): void {
    this.#held -= bytes
  }
}
