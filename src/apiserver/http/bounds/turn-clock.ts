/** How long a turn of the event loop has taken, from when that was first asked in it. */
export class TurnClock {
  #beganAt: number | undefined

  get ageMs(): number {
    const now = performance.now()
    if (this.#beganAt !== undefined) return now - this.#beganAt
    this.#beganAt = now
    setImmediate(this.#over)
    return 0
  }

  readonly #over = (): void => {
    this.#beganAt = undefined
  }
}
