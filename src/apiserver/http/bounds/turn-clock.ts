/** Measures how long the current turn of the event loop takes, from the first call in it. */
export class TurnClock {
  #beganAt: number | undefined

  get ageMs(): number {
    const now = performance.now()
    if (this.#beganAt !== undefined) return now - this.#beganAt
    this.#beganAt = now
    setImmediate(this.#endTurn)
    return 0
  }

  readonly #endTurn = (): void => {
    this.#beganAt = undefined
  }
}
