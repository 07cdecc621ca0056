/**
 * Maintains domain counts for the nodes of a snapshot: the share of a node is recomputed only after the node or its
 * pods change.
 */
import type { NodeInfo } from '../../framework/index.ts'
import { Domains, type Share } from './counts.ts'

const nothing: readonly Share[] = []

class NodeTally {
  readonly #domains = new Domains()
  /** By index: the node at that position, its generation, and its shares. */
  readonly #nodes: NodeInfo[] = []
  readonly #generations: number[] = []
  readonly #shares: (readonly Share[])[] = []

  follow(nodes: readonly NodeInfo[], sharesOf: (node: NodeInfo) => readonly Share[]): Domains {
    for (let at = 0; at < nodes.length; at++) {
      const node = nodes[at] as NodeInfo
      if (node === this.#nodes[at] && node.generation === this.#generations[at]) continue
      this.#clear(at)
      const shares = sharesOf(node)
      for (const share of shares) this.#domains.add(share)
      this.#nodes[at] = node
      this.#generations[at] = node.generation
      this.#shares[at] = shares
    }
    for (let at = nodes.length; at < this.#nodes.length; at++) this.#clear(at)
    this.#nodes.length = nodes.length
    this.#shares.length = nodes.length
    return this.#domains
  }

  #clear(at: number): void {
    for (const share of this.#shares[at] ?? nothing) this.#domains.remove(share)
  }
}

/**
 * Tallies by key. The first count of a key is not stored: pods with unique labels occur once, and a tally would be of
 * no further use. The least recently used tallies are dropped, for each holds data for every node.
 */
export class NodeTallies {
  readonly #tallies = new Map<string, NodeTally>()
  readonly #countedOnce = new Set<string>()

  /**
   * Returns the domains of `nodes`. `what` is a key of everything that `sharesOf` depends on besides the node; only
   * `relevant` nodes can have shares.
   */
  count(
    what: string,
    nodes: readonly NodeInfo[],
    sharesOf: (node: NodeInfo) => readonly Share[],
    relevant: Iterable<NodeInfo> = nodes,
  ): Domains {
    let tally = this.#tallies.get(what)
    if (!tally && !this.#countedOnce.delete(what)) {
      this.#countedOnce.add(what)
      forgetOldest(this.#countedOnce, maxCountedOnce)
      return countOnce(relevant, sharesOf)
    }
    tally ??= new NodeTally()
    // Reinserted, so that the first key is the least recently used.
    this.#tallies.delete(what)
    this.#tallies.set(what, tally)
    forgetOldest(this.#tallies, maxTallies)
    return tally.follow(nodes, sharesOf)
  }
}

const maxTallies = 32
const maxCountedOnce = 256

function forgetOldest(cache: Map<string, unknown> | Set<string>, most: number): void {
  if (cache.size <= most) return
  const [oldest = ''] = cache.keys()
  cache.delete(oldest)
}

function countOnce(nodes: Iterable<NodeInfo>, sharesOf: (node: NodeInfo) => readonly Share[]): Domains {
  const domains = new Domains()
  for (const node of nodes) for (const share of sharesOf(node)) domains.add(share)
  return domains
}
