/**
 * A binary heap whose items are found by their keys: what comes first is known at once, and anything can be taken out.
 */
export class Heap<T extends { readonly key: string }> {
  readonly #items: T[] = []
  readonly #places = new Map<string, number>()
  readonly #isBefore: (a: T, b: T) => boolean

  constructor(isBefore: (a: T, b: T) => boolean) {
    this.#isBefore = isBefore
  }

  get size(): number {
    return this.#items.length
  }

  get first(): T | undefined {
    return this.#items[0]
  }

  get(key: string): T | undefined {
    const at = this.#places.get(key)
    return at === undefined ? undefined : this.#items[at]
  }

  all(): readonly T[] {
    return this.#items
  }

  /** Adds the item, or finds the right place for one of this key that has changed. */
  set(item: T): void {
    const at = this.#places.get(item.key) ?? this.#items.length
    this.#put(item, at)
    this.#settle(at)
  }

  pop(): T | undefined {
    const [first] = this.#items
    return first && this.delete(first.key)
  }

  delete(key: string): T | undefined {
    const at = this.#places.get(key)
    if (at === undefined) return undefined
    const item = this.#items[at]
    const last = this.#items.pop()!
    this.#places.delete(key)
    if (at < this.#items.length) {
      this.#put(last, at)
      this.#settle(at)
    }
    return item
  }

  #put(item: T, at: number): void {
    this.#items[at] = item
    this.#places.set(item.key, at)
  }

  /** Moves the item at this place up or down, until the order is right. */
  #settle(from: number): void {
    const item = this.#items[from]!
    let at = from
    while (at > 0) {
      const above = (at - 1) >> 1
      if (!this.#isBefore(item, this.#items[above]!)) break
      this.#put(this.#items[above]!, at)
      at = above
    }
    for (;;) {
      let below = 2 * at + 1
      if (below >= this.#items.length) break
      if (below + 1 < this.#items.length && this.#isBefore(this.#items[below + 1]!, this.#items[below]!)) below++
      if (!this.#isBefore(this.#items[below]!, item)) break
      this.#put(this.#items[below]!, at)
      at = below
    }
    this.#put(item, at)
  }
}
