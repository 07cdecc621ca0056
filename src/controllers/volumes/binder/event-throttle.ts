/** Limits how often the same event is recorded; it is repeated so that it does not expire. */
import type { PlannedEvent } from './decisions/claim-plan.ts'

/** Tolerance, as timers are not exact. */
const tolerance = 0.9

export class EventThrottle {
  readonly #repeatAfterMs: number
  readonly #now: () => number
  readonly #last = new Map<string, { readonly text: string; readonly at: number }>()

  /** `now` is in ms. */
  constructor(repeatAfterMs: number, now: () => number) {
    this.#repeatAfterMs = repeatAfterMs
    this.#now = now
  }

  /** Returns true if the event must be recorded now, and remembers it as recorded. */
  shouldRecord(key: string, { reason, message }: PlannedEvent): boolean {
    const text = `${reason} ${message}`
    const last = this.#last.get(key)
    const now = this.#now()
    if (last?.text === text && now - last.at < this.#repeatAfterMs * tolerance) return false
    this.#last.set(key, { text, at: now })
    return true
  }

  forget(key: string): void {
    this.#last.delete(key)
  }
}
