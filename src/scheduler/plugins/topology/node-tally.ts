/**
 * Keeps domains in step with the nodes of a snapshot: what a node adds is worked out again only when the node or its
 * pods have changed.
 */
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

/**
 * Tallies by what is counted. What is asked for the first time is only counted: pods with labels of their own come
 * once, and a tally would be of no use to anybody else. Those that were not asked for in a while are forgotten: each
 * holds something for every node.
 */
export class NodeTallies {
  readonly #tallies = new Map<string, NodeTally>()
  readonly #askedOnce = new Set<string>()

  /**
   * The domains as `nodes` make them. `what` names all that `sharesOf` goes by, beside the node; `relevant` are the
   * nodes that may add anything at all.
   */
  count(
    what: string,
    nodes: readonly NodeInfo[],
    sharesOf: (node: NodeInfo) => readonly Share[],
    relevant: Iterable<NodeInfo> = nodes,
  ): Domains {
    let tally = this.#tallies.get(what)
    if (!tally && !this.#askedOnce.delete(what)) {
      this.#askedOnce.add(what)
      forgetOldest(this.#askedOnce, mostAskedOnce)
      return countOnce(relevant, sharesOf)
    }
    tally ??= new NodeTally()
    // What was put in last stands last: the oldest is the one that was not used for longest.
    this.#tallies.delete(what)
    this.#tallies.set(what, tally)
    forgetOldest(this.#tallies, mostTallies)
    return tally.follow(nodes, sharesOf)
  }
}

const mostTallies = 32
const mostAskedOnce = 256

function forgetOldest(kept: Map<string, unknown> | Set<string>, most: number): void {
  if (kept.size <= most) return
  const [oldest = ''] = kept.keys()
  kept.delete(oldest)
}

function countOnce(nodes: Iterable<NodeInfo>, sharesOf: (node: NodeInfo) => readonly Share[]): Domains {
  const domains = new Domains()
  for (const node of nodes) for (const share of sharesOf(node)) domains.add(share)
  return domains
}
