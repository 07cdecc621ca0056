/** Keeps domains in step with the nodes of a snapshot: what a node adds is worked out again only when the node or its pods have changed. */
import type { NodeInfo } from '../../framework/index.ts'
import { Domains, type Share } from './counts.ts'

const nothing: readonly Share[] = []

class NodeTally {
  readonly #domains = new Domains()
  /** By the nodes' places: which node stood there, as of when, and what it added. */
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

/** Tallies by what is counted. Those that were not asked for in a while are forgotten: each holds something for every node. */
export class NodeTallies {
  readonly #most: number
  readonly #tallies = new Map<string, NodeTally>()

  constructor(most = 32) {
    this.#most = most
  }

  /** The domains as `nodes` make them. `what` names all that `sharesOf` goes by, beside the node. */
  count(what: string, nodes: readonly NodeInfo[], sharesOf: (node: NodeInfo) => readonly Share[]): Domains {
    const tally = this.#tallies.get(what) ?? new NodeTally()
    // Maps keep the order in which things were put in: the last used one stands last.
    this.#tallies.delete(what)
    this.#tallies.set(what, tally)
    if (this.#tallies.size > this.#most) {
      const [oldest = ''] = this.#tallies.keys()
      this.#tallies.delete(oldest)
    }
    return tally.follow(nodes, sharesOf)
  }
}
