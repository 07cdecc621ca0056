/** Measures how long attachments are unused but still mounted: after a time, an unresponsive node is not waited for. */
export class UnmountWaits {
  readonly #maxMs: number
  readonly #now: () => number
  /** Times since which attachments are unused, by name, in ms. */
  readonly #since = new Map<string, number>()

  /** `now` returns ms. */
  constructor(maxMs: number, now: () => number) {
    this.#maxMs = maxMs
    this.#now = now
  }

  /** Time in ms until the wait for an attachment times out; 0 or less if it has. */
  remainingMs(attachment: string): number {
    const now = this.#now()
    return (this.#since.get(attachment) ?? now) + this.#maxMs - now
  }

  start(attachment: string): void {
    if (!this.#since.has(attachment)) this.#since.set(attachment, this.#now())
  }

  end(attachment: string): void {
    this.#since.delete(attachment)
  }
}
