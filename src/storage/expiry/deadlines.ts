/** The deadlines of keys, in whole seconds. Costs nothing for keys without one. */

export class Deadlines {
  /** The deadline of each key in seconds since 1970; 0 while it is unknown. */
  readonly #byKey = new Map<string, number>()
  /** The keys of each deadline. There are few: events of an hour have 3,600. */
  readonly #byTime = new Map<number, Set<string>>()

  has(key: string): boolean {
    return this.#byKey.has(key)
  }

  /** The deadline of a key in seconds since 1970; 0 while it is unknown, undefined if it has none. */
  get(key: string): number | undefined {
    return this.#byKey.get(key)
  }

  /** The earliest known deadline, in seconds since 1970. */
  get earliest(): number | undefined {
    let earliest: number | undefined
    for (const seconds of this.#byTime.keys()) if (earliest === undefined || seconds < earliest) earliest = seconds
    return earliest
  }

  /** Remembers that a key has a deadline, which may be unknown at present. */
  set(key: string, seconds?: number): void {
    this.delete(key)
    this.#byKey.set(key, seconds ?? 0)
    if (seconds === undefined) return
    const keys = this.#byTime.get(seconds)
    if (keys) keys.add(key)
    else this.#byTime.set(seconds, new Set([key]))
  }

  delete(key: string): void {
    const seconds = this.#byKey.get(key)
    this.#byKey.delete(key)
    const keys = seconds && this.#byTime.get(seconds)
    if (!keys) return
    keys.delete(key)
    if (keys.size === 0) this.#byTime.delete(seconds)
  }

  /** The keys whose deadline is unknown. */
  *unknown(): Generator<string> {
    for (const [key, seconds] of this.#byKey) if (seconds === 0) yield key
  }

  /** The keys whose deadline is not after this time, in seconds since 1970. */
  due(seconds: number): string[] {
    return [...this.#byTime].flatMap(([time, keys]) => (time <= seconds ? [...keys] : []))
  }
}
