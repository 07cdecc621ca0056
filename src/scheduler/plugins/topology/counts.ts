/**
 * The number of matching pods in each domain of a topology (a zone, a node), also with pods added or removed for a
 * simulation.
 */

/** The contribution of a node to a domain. */
export interface Share {
  /** The topology: its key, or another unique name. */
  readonly topology: string
  readonly domain: string
  readonly amount: number
}

/** A domain exists as long as a node contributes to it, even 0. */
interface Domain {
  nodes: number
  amount: number
}

/** Domains by topology. They follow the nodes (node-tally.ts), so they are valid until the next cycle. */
export class Domains {
  readonly #topologies = new Map<string, Map<string, Domain>>()

  add({ topology, domain, amount }: Share): void {
    let domains = this.#topologies.get(topology)
    if (!domains) this.#topologies.set(topology, (domains = new Map()))
    const at = domains.get(domain)
    if (at) {
      at.nodes++
      at.amount += amount
    } else domains.set(domain, { nodes: 1, amount })
  }

  remove({ topology, domain, amount }: Share): void {
    const domains = this.#topologies.get(topology)
    const at = domains?.get(domain)
    if (!domains || !at) return
    at.nodes--
    at.amount -= amount
    if (at.nodes > 0) return
    domains.delete(domain)
    if (domains.size === 0) this.#topologies.delete(topology)
  }

  get topologies(): Iterable<string> {
    return this.#topologies.keys()
  }

  amount(topology: string, domain: string): number {
    return this.#topologies.get(topology)?.get(domain)?.amount ?? 0
  }

  /** The number of domains of a topology. */
  size(topology: string): number {
    return this.#topologies.get(topology)?.size ?? 0
  }

  *of(topology: string): Generator<[domain: string, amount: number]> {
    for (const [domain, { amount }] of this.#topologies.get(topology) ?? []) yield [domain, amount]
  }

  get isEmpty(): boolean {
    return this.#topologies.size === 0
  }
}

/** Domains with a difference from simulated changes. */
export class Counts {
  readonly #domains: Domains
  /** By topology and domain; usually empty. */
  readonly #difference: Map<string, Map<string, number>>

  constructor(domains: Domains, difference: Map<string, Map<string, number>> = new Map()) {
    this.#domains = domains
    this.#difference = difference
  }

  copy(): Counts {
    return new Counts(
      this.#domains,
      new Map([...this.#difference].map(([topology, amounts]) => [topology, new Map(amounts)])),
    )
  }

  change(topology: string, domain: string, by: number): void {
    let amounts = this.#difference.get(topology)
    if (!amounts) this.#difference.set(topology, (amounts = new Map()))
    amounts.set(domain, (amounts.get(domain) ?? 0) + by)
  }

  amount(topology: string, domain: string): number {
    return this.#domains.amount(topology, domain) + (this.#difference.get(topology)?.get(domain) ?? 0)
  }

  /** Topologies that have domains. */
  get topologies(): Iterable<string> {
    return this.#difference.size === 0
      ? this.#domains.topologies
      : new Set([...this.#domains.topologies, ...this.#difference.keys()])
  }

  size(topology: string): number {
    return this.#domains.size(topology)
  }

  /** The lowest amount in a domain of a topology; Infinity without domains. */
  least(topology: string): number {
    const difference = this.#difference.get(topology)
    let least = Number.POSITIVE_INFINITY
    for (const [domain, amount] of this.#domains.of(topology))
      least = Math.min(least, amount + (difference?.get(domain) ?? 0))
    return least
  }

  /** Returns true if all amounts are 0. */
  get isZero(): boolean {
    if (this.#difference.size === 0) return this.#domains.isEmpty
    for (const topology of this.topologies) {
      for (const [domain] of this.#domains.of(topology)) if (this.amount(topology, domain) > 0) return false
      for (const domain of this.#difference.get(topology)?.keys() ?? [])
        if (this.amount(topology, domain) > 0) return false
    }
    return true
  }
}
