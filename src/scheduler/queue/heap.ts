/** A binary heap with items by key: the first is found in constant time, and any item can be removed. */
export class Heap<T extends { readonly key: string }> {
  readonly #items: T[] = []
  readonly #indexes = new Map<string, number>()
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
    const at = this.#indexes.get(key)
    return at === undefined ? undefined : this.#items[at]
  }

  all(): readonly T[] {
    return this.#items
  }

  /** Adds the item, or moves the one of its key to the right place. */
  set(item: T): void {
    const at = this.#indexes.get(item.key) ?? this.#items.length
    this.#setAt(item, at)
    this.#reorder(at)
  }

  pop(): T | undefined {
    const [first] = this.#items
    return first && this.delete(first.key)
  }

  delete(key: string): T | undefined {
    const at = this.#indexes.get(key)
    if (at === undefined) return undefined
    const item = this.#items[at]
    const last = this.#items.pop()!
    this.#indexes.delete(key)
    if (at < this.#items.length) {
      this.#setAt(last, at)
      this.#reorder(at)
    }
    return item
  }

  #setAt(item: T, at: number): void {
    this.#items[at] = item
    this.#indexes.set(item.key, at)
  }

  /** Moves the item up or down until the order is right. */
  #reorder(from: number): void {
    const item = this.#items[from]!
    let at = from
    while (at > 0) {
      const above = (at - 1) >> 1
      if (!this.#isBefore(item, this.#items[above]!)) break
      this.#setAt(this.#items[above]!, at)
      at = above
    }
    for (;;) {
      let below = 2 * at + 1
      if (below >= this.#items.length) break
      if (below + 1 < this.#items.length && this.#isBefore(this.#items[below + 1]!, this.#items[below]!)) below++
      if (!this.#isBefore(this.#items[below]!, item)) break
      this.#setAt(this.#items[below]!, at)
      at = below
    }
    this.#setAt(item, at)
  }
}
