/**
 * A doubly linked list in order of insertion. The links are in the items: nothing is allocated per item, and removed
 * items keep nothing alive, unlike in the table of a Set (docs/decisions/0010).
 */

/** An item, which can be in one list at a time. The list owns the links. */
export interface Linked<T> {
  older?: T | undefined
  newer?: T | undefined
}

export class LinkedList<T extends Linked<T>> {
  oldest: T | undefined
  #newest: T | undefined

  has(one: T): boolean {
    return one.newer !== undefined || this.#newest === one
  }

  /** Appends an item that is not in the list. */
  add(one: T): void {
    one.older = this.#newest
    if (this.#newest) this.#newest.newer = one
    else this.oldest = one
    this.#newest = one
  }

  /** Removes an item if it is in the list. */
  remove(one: T): void {
    if (!this.has(one)) return
    const { older, newer } = one
    if (older) older.newer = newer
    else this.oldest = newer
    if (newer) newer.older = older
    else this.#newest = older
    one.older = undefined
    one.newer = undefined
  }

  /** Iterates from the oldest item. The current item may be removed meanwhile, but no other. */
  *[Symbol.iterator](): Generator<T> {
    for (let one = this.oldest, next = one?.newer; one; one = next, next = one?.newer) yield one
  }
}
