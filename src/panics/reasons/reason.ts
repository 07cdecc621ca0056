/** Why a program ended, in words: a name for it, what has happened, and what to look at. */

export interface Reason {
  /** Stable, for programs: `nil dereference`, `index out of range`, `deadlock`, … */
  readonly kind: string
  /** What has happened. Sentences. */
  readonly explanation: string
  /** What to look at next. A sentence. */
  readonly advice: string
}

/** One thing that the runtime says, and what it means. The first pattern that matches counts. */
export interface KnownMessage {
  readonly pattern: RegExp
  readonly kind: string
  readonly explain: (...groups: string[]) => string
  readonly advice: string
}

/** The reason that a table has for a message. */
export function known(table: readonly KnownMessage[], message: string): Reason | undefined {
  for (const { pattern, kind, explain, advice } of table) {
    const found = pattern.exec(message)
    if (found) return { kind, explanation: explain(...found.slice(1).map((group) => group ?? '')), advice }
  }
  return undefined
}
