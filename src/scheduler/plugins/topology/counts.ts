/**
 * How many pods of some sort there are in each domain of a topology (a zone, a node), and what would be if pods came or
 * went.
 */

/** What a node adds to a domain. */
export interface Share {
  /** Which topology: its key, or whatever else tells two apart. */
  readonly topology: string
  readonly domain: string
  readonly amount: number
}

/** A domain is there as long as a node adds to it, be it nothing. */
interface Domain {
  nodes: number
  amount: number
}

/** Domains by topology. They follow the nodes (node-tally.ts): valid until the next cycle. */
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

  /** How many domains a topology has. */
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

/** Domains with the difference that some pods would make. */
export class Counts {
  readonly #domains: Domains
  /** By topology and domain; most often empty. */
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

  /** The smallest amount that a domain of a topology has; Infinity where there is none. */
  least(topology: string): number {
    const difference = this.#difference.get(topology)
    let least = Number.POSITIVE_INFINITY
    for (const [domain, amount] of this.#domains.of(topology))
      least = Math.min(least, amount + (difference?.get(domain) ?? 0))
    return least
  }

  /** Whether nothing is counted anywhere. */
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
