/** The reason of a crash: its kind, an explanation, and advice. */

export interface Reason {
  /** Stable, for programs: `nil dereference`, `index out of range`, `deadlock`, … */
  readonly kind: string
  /** The cause, in one or more sentences. */
  readonly explanation: string
  /** The next step, in a sentence. */
  readonly advice: string
}

/** A message of the runtime with its explanation. The first matching pattern is used. */
export interface KnownMessage {
  readonly pattern: RegExp
  readonly kind: string
  readonly explain: (...groups: string[]) => string
  readonly advice: string
}

/** Looks up the reason of a message in a table. */
export function reasonIn(table: readonly KnownMessage[], message: string): Reason | undefined {
  for (const { pattern, kind, explain, advice } of table) {
    const found = pattern.exec(message)
    if (found) return { kind, explanation: explain(...found.slice(1).map((group) => group ?? '')), advice }
  }
  return undefined
}
