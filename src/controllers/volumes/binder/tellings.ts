/** What was told of whom last: the same is told again only after a while, so that it stays to be seen. */
import type { Told } from './claim-plan.ts'

/** Timers are not exact. */
const nearly = 0.9

export class Tellings {
  readonly #againMs: number
  readonly #now: () => number
  readonly #last = new Map<string, { readonly text: string; readonly at: number }>()

  /** `now` is in ms. */
  constructor(againMs: number, now: () => number) {
    this.#againMs = againMs
    this.#now = now
  }

  /**
   * Whether to tell it now; if so, it counts as told. Whoever asks again after the time is told yes, even if a timer
   * was early.
   */
  isNew(key: string, { reason, message }: Told): boolean {
    const text = `${reason} ${message}`
    const last = this.#last.get(key)
    const now = this.#now()
    if (last?.text === text && now - last.at < this.#againMs * nearly) return false
    this.#last.set(key, { text, at: now })
    return true
  }

  forget(key: string): void {
    this.#last.delete(key)
  }
}
