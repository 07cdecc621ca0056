/** The running parts of a process, so that all of them stop: at its end, and when its start fails half-way. */

export class Lifetime {
  readonly #ends: ((graceMs: number) => void | Promise<void>)[] = []
  readonly #endsTogether: boolean

  constructor({ endsTogether = false } = {}) {
    this.#endsTogether = endsTogether
  }

  /**
   * Registers the end of a part. Call it before the part starts: `end` must be harmless for a part that has not
   * started, or not completely.
   */
  onEnd(end: (graceMs: number) => void | Promise<void>): void {
    this.#ends.push(end)
  }

  /** Returns a lifetime for parts that do not use each other: they end at the same time, when this one gets to them. */
  group(): Lifetime {
    const group = new Lifetime({ endsTogether: true })
    this.onEnd((graceMs) => group.end(graceMs))
    return group
  }

  /**
   * Ends the parts in the reverse order of their start, as later parts use earlier ones. `graceMs` is the time that
   * they may give to running work.
   */
  async end(graceMs = 0): Promise<void> {
    const ends = this.#ends.splice(0).reverse()
    if (this.#endsTogether) await Promise.all(ends.map((end) => end(graceMs)))
    else for (const end of ends) await end(graceMs)
  }
}
