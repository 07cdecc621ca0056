/** What runs of a server, so that all of it ends: when the server is stopped, and when its start fails half-way. */

export class Lifetime {
  readonly #ends: (() => void | Promise<void>)[] = []

  /** To be said before a part begins: `end` must do no harm to one that has not begun, or not altogether. */
  onEnd(end: () => void | Promise<void>): void {
    this.#ends.push(end)
  }

  /** Ends the parts, those first that came last: they may still use the ones before. */
  async end(): Promise<void> {
    for (const end of this.#ends.splice(0).reverse()) await end()
  }
}
