/**
 * Things in the order in which they came, each of which can go at any time: they are linked to each other, so nothing
 * is allocated for one, and what has gone keeps nothing alive, as the table of a Set would (docs/decisions/0010).
 */

/** What can be in one chain at a time; its links are the chain's. */
export interface Linked<T> {
  older?: T | undefined
  newer?: T | undefined
}

export class Chain<T extends Linked<T>> {
  oldest: T | undefined
  #newest: T | undefined

  has(one: T): boolean {
    return one.newer !== undefined || this.#newest === one
  }

  /** Adds one that is not in it. */
  add(one: T): void {
    one.older = this.#newest
    if (this.#newest) this.#newest.newer = one
    else this.oldest = one
    this.#newest = one
  }

  /** Takes one out, if it is in. */
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

  /** The oldest first; the one that is told may be taken out meanwhile, no other. */
  *[Symbol.iterator](): Generator<T> {
    for (let one = this.oldest, next = one?.newer; one; one = next, next = one?.newer) yield one
  }
}
