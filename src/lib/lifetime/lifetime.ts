/** The running parts of a process, so that all of them stop: at its end, and when its start fails half-way. */

export class Lifetime {
  readonly #ends: ((graceMs: number) => void | Promise<void>)[] = []

  /**
   * Registers the end of a part. Call it before the part starts: `end` must be harmless for a part that has not started,
   * or not completely.
   */
  onEnd(end: (graceMs: number) => void | Promise<void>): void {
    this.#ends.push(end)
  }

  /**
   * Ends the parts in the reverse order of their start, as later parts use earlier ones. `graceMs` is the time that
   * they may give to running work.
   */
  async end(graceMs = 0): Promise<void> {
    for (const end of this.#ends.splice(0).reverse()) await end(graceMs)
  }
}
