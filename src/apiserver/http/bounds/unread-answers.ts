/** Answers that are written and not yet read. One that makes no progress at all for a long time is cut off: it holds memory. */

export interface UnreadAnswer {
  /** Bytes that wait for the client. */
  readonly unsent: number
  /** Ends the stream or connection at once. */
  cut(): void
  /** Those that are followed are a chain through these: nothing is allocated for an answer. */
  older?: UnreadAnswer | undefined
  newer?: UnreadAnswer | undefined
}

export class UnreadAnswers {
  readonly #limitMs: number
  #newest: UnreadAnswer | undefined
  /** What was looked at before: most answers are gone by then. */
  #seen = new Map<UnreadAnswer, { readonly unsent: number; readonly since: number }>()

  constructor(limitMs: number) {
    this.#limitMs = limitMs
  }

  /** From now on the answer must make progress, until it is forgotten. */
  follow(answer: UnreadAnswer): void {
    if (this.#follows(answer)) return
    answer.older = this.#newest
    if (this.#newest) this.#newest.newer = answer
    this.#newest = answer
  }

  forget(answer: UnreadAnswer): void {
    if (!this.#follows(answer)) return
    const { older, newer } = answer
    if (older) older.newer = newer
    if (newer) newer.older = older
    else this.#newest = older
    answer.older = undefined
    answer.newer = undefined
  }

  #follows(answer: UnreadAnswer): boolean {
    return answer.newer !== undefined || this.#newest === answer
  }

  /** Cuts off what has stood still since it was looked at `limitMs` ago. */
  sweep(now: number): void {
    const seen = this.#seen
    this.#seen = new Map()
    for (let answer = this.#newest, older = answer?.older; answer; answer = older, older = answer?.older) {
      const { unsent } = answer
      const before = seen.get(answer)
      const since = before?.unsent === unsent ? before.since : now
      if (now - since >= this.#limitMs) answer.cut()
      else this.#seen.set(answer, { unsent, since })
    }
  }
}
