/**
 * Responses that are written and not yet read. One that makes no progress for a long time is cut off, as it takes
 * memory.
 */
import { type Linked, LinkedList } from '../../../lib/collections/linked-list.ts'

export interface UnreadAnswer extends Linked<UnreadAnswer> {
  /** Bytes that wait for the client. */
  readonly unsent: number
  /** Ends the stream or connection immediately. */
  cut(): void
}

export class UnreadAnswers {
  readonly #limitMs: number
  readonly #followed = new LinkedList<UnreadAnswer>()
  /** The state at the last sweep: most responses are complete by then. */
  #seen = new Map<UnreadAnswer, { readonly unsent: number; readonly since: number }>()

  constructor(limitMs: number) {
    this.#limitMs = limitMs
  }

  /** Requires progress from the response from now on, until `forget`. */
  follow(answer: UnreadAnswer): void {
    if (!this.#followed.has(answer)) this.#followed.add(answer)
  }

  forget(answer: UnreadAnswer): void {
    this.#followed.remove(answer)
  }

  /** Cuts off the responses that have made no progress for `limitMs`. */
  sweep(now: number): void {
    const seen = this.#seen
    this.#seen = new Map()
    for (const answer of this.#followed) {
      const { unsent } = answer
      const before = seen.get(answer)
      const since = before?.unsent === unsent ? before.since : now
      if (now - since >= this.#limitMs) answer.cut()
      else this.#seen.set(answer, { unsent, since })
    }
  }
}
