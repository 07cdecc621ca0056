/** Changes of the kernel that do not depend on each other: one that fails does not prevent the others. */
import { messageOf } from '../../../lib/message-of.ts'

export class Attempts {
  readonly #done: string[] = []
  readonly #failures: string[] = []

  /** Makes a change; `what` describes it in words. */
  make(what: string, change: () => void): void {
    try {
      change()
      this.#done.push(what)
    } catch (error) {
      this.#failures.push(messageOf(error))
    }
  }

  /**
   * Returns what was done, in words.
   * @throws an Error with the reason of each change that failed.
   */
  finish(): string[] {
    if (this.#failures.length > 0) throw new Error(this.#failures.join('; '))
    return this.#done
  }
}
