/** Remembers nodes that wait for volumes attached to other nodes. */
export class WaitingNodes {
  /** Nodes by volume. */
  readonly #nodes = new Map<string, Set<string>>()

  /** The nodes that wait for a volume. */
  of(volume: string): Iterable<string> {
    return this.#nodes.get(volume) ?? []
  }

  /** Replaces the volumes that a node waits for; returns those that it no longer waits for. */
  update(node: string, volumes: ReadonlySet<string>): string[] {
    for (const volume of volumes) this.#nodes.set(volume, (this.#nodes.get(volume) ?? new Set()).add(node))
    const unblocked: string[] = []
    for (const [volume, nodes] of this.#nodes) {
      if (volumes.has(volume) || !nodes.delete(node)) continue
      unblocked.push(volume)
      if (nodes.size === 0) this.#nodes.delete(volume)
    }
    return unblocked
  }
}
