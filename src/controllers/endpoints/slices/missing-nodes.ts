/** Remembers Services with pods on nodes that are not in the cache yet: their slices need the zone of the node. */
export class MissingNodes {
  /** Keys of Services by node. */
  readonly #waiting = new Map<string, Set<string>>()

  add(nodes: Iterable<string>, key: string): void {
    for (const node of nodes) this.#waiting.set(node, (this.#waiting.get(node) ?? new Set()).add(key))
  }

  /** Returns the keys of the Services that wait for a node, and forgets them. */
  take(node: string): Iterable<string> {
    const keys = this.#waiting.get(node) ?? []
    this.#waiting.delete(node)
    return keys
  }
}
