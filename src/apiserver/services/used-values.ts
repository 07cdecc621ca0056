/** Addresses or ports in use: those of stored Services, which are counted, and the claims of writes in progress. */
export class UsedValues<Value> {
  /** How many stored Services have each value. */
  readonly #stored = new Map<Value, number>()
  readonly #claimed = new Set<Value>()

  /** The values of stored Services. */
  stored(): Iterable<Value> {
    return this.#stored.keys()
  }

  get storedCount(): number {
    return this.#stored.size
  }

  isStored(value: Value): boolean {
    return this.#stored.has(value)
  }

  isUsed(value: Value): boolean {
    return this.#stored.has(value) || this.#claimed.has(value)
  }

  addStored(value: Value): void {
    this.#stored.set(value, (this.#stored.get(value) ?? 0) + 1)
  }

  removeStored(value: Value): void {
    const count = (this.#stored.get(value) ?? 0) - 1
    if (count > 0) this.#stored.set(value, count)
    else this.#stored.delete(value)
  }

  clearStored(): void {
    this.#stored.clear()
  }

  claim(value: Value): void {
    this.#claimed.add(value)
  }

  release(value: Value): void {
    this.#claimed.delete(value)
  }
}
