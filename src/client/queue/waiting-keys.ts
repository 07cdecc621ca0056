/** Keys that wait, each once: those of a higher priority first, those of the same in the order in which they came. */

export class WaitingKeys {
  readonly #byPriority = new Map<number, Set<string>>()
  readonly #priorities = new Map<string, number>()
  /** Those that have keys, highest first. */
  #order: readonly number[] = []

  get size(): number {
    return this.#priorities.size
  }

  /** A key that waits already keeps its place, or moves up to a higher priority. False if nothing changed. */
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

  /** Takes the next one. */
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
