/**
 * Applies changes of the cluster, except while an extender is called: a decision needs one state of the cluster, so
 * changes are held until the extender has answered.
 */
export class ChangeGate {
  readonly #onOpen: () => void
  readonly #held: (() => void)[] = []
  /** The number of calls in progress; all for one pod. */
  #calls = 0
  #changeBegan = 0

  /** `onOpen` is called after the held changes are applied. */
  constructor(onOpen: () => void) {
    this.#onOpen = onOpen
  }

  /** True if changes are applied immediately. */
  get isOpen(): boolean {
    return this.#calls === 0
  }

  /** When the processing of the current change began, by `performance.now()`. */
  get changeBegan(): number {
    return this.#changeBegan
  }

  apply(change: () => void): void {
    if (this.#calls > 0) this.#held.push(change)
    else this.#applyNow(change)
  }

  /** Continues synchronously if `call` answers synchronously. Otherwise changes are held until it resolves. */
  afterAnswer<T>(call: () => T | Promise<T>, next: (answer: T) => void, onError: (error: unknown) => void): void {
    let answer: T | Promise<T>
    try {
      answer = call()
    } catch (error) {
      onError(error)
      return
    }
    if (!(answer instanceof Promise)) {
      next(answer)
      return
    }
    this.#calls++
    void answer.then(next, onError).finally(() => this.#release())
  }

  #applyNow(change: () => void): void {
    this.#changeBegan = performance.now()
    change()
  }

  #release(): void {
    if (--this.#calls > 0) return
    for (const change of this.#held.splice(0)) this.#applyNow(change)
    this.#onOpen()
  }
}
