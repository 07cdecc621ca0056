/** Operations by key: those of one key run one after another, those of different keys at the same time. */
export class KeyedQueue {
  readonly #last = new Map<string, Promise<void>>()

  /** Runs an operation after the earlier ones of its key, even if those have failed. */
  run<Result>(key: string, operation: () => Promise<Result>): Promise<Result> {
    const before = this.#last.get(key)
    const result = before ? before.then(operation) : operation()
    const settled = result.then(
      () => {},
      () => {},
    )
    this.#last.set(key, settled)
    void settled.then(() => {
      if (this.#last.get(key) === settled) this.#last.delete(key)
    })
    return result
  }
}
