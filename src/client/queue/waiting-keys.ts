/** A set of waiting keys, ordered by priority (highest first), then by time of arrival. */

export class WaitingKeys {
  readonly #byPriority = new Map<number, Set<string>>()
  readonly #priorities = new Map<string, number>()
  /** Priorities that have keys, highest first. */
  #order: readonly number[] = []

  get size(): number {
    return this.#priorities.size
  }

  /** Adds a key. A waiting key moves to a higher priority, else keeps its place. Returns true if the key is new. */
  add(key: string, priority: number): boolean {
    const present = this.#priorities.get(key)
    if (present !== undefined && present >= priority) return false
    if (present !== undefined) this.#remove(key, present)
    this.#priorities.set(key, priority)
    const keys = this.#byPriority.get(priority)
    if (keys) keys.add(key)
    else {
      this.#byPriority.set(priority, new Set([key]))
      this.#sort()
    }
    return present === undefined
  }

  /** Removes and returns the next key. */
  take(): { readonly key: string; readonly priority: number } | undefined {
    const [priority] = this.#order
    if (priority === undefined) return undefined
    const [key] = this.#byPriority.get(priority) ?? []
    if (key === undefined) return undefined
    this.#priorities.delete(key)
    this.#remove(key, priority)
    return { key, priority }
  }

  clear(): void {
    this.#byPriority.clear()
    this.#priorities.clear()
    this.#order = []
  }

  #remove(key: string, priority: number): void {
    const keys = this.#byPriority.get(priority)
    keys?.delete(key)
    if (keys?.size !== 0) return
    this.#byPriority.delete(priority)
    this.#sort()
  }

  #sort(): void {
    this.#order = [...this.#byPriority.keys()].sort((a, b) => b - a)
  }
}
