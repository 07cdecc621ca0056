/**
 * Answers that are written and not yet read. One that makes no progress at all for a long time is cut off: it holds
 * memory.
 */
import { Chain, type Linked } from '../../../lib/chain.ts'

export interface UnreadAnswer extends Linked<UnreadAnswer> {
  /** Bytes that wait for the client. */
  readonly unsent: number
  /** Ends the stream or connection at once. */
  cut(): void
}

export class UnreadAnswers {
  readonly #limitMs: number
  readonly #followed = new Chain<UnreadAnswer>()
  /** What was looked at before: most answers are gone by then. */
  #seen = new Map<UnreadAnswer, { readonly unsent: number; readonly since: number }>()

  constructor(limitMs: number) {
    this.#limitMs = limitMs
  }

  /** From now on the answer must make progress, until it is forgotten. */
  follow(answer: UnreadAnswer): void {
    if (!this.#followed.has(answer)) this.#followed.add(answer)
  }

  forget(answer: UnreadAnswer): void {
    this.#followed.remove(answer)
  }

  /** Cuts off what has stood still since it was looked at `limitMs` ago. */
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
