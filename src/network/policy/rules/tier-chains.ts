/** The chains of pods: one for each tier with policies, from which packets go to that of the next tier. */
import type { CompiledPolicy, Direction, Tier } from '../picture/compiled-policy.ts'
import { type BuiltChain, hashOf } from './rule-chain.ts'

/** Pods with the same policies share it. */
export interface SharedChain {
  readonly name: string
  readonly direction: Direction
  readonly tier: Tier
  /** Keys, in the order of their rules. */
  readonly policies: readonly string[]
  /** Of the next tier. */
  readonly next: SharedChain | undefined
  /** By family; made again after a change of a policy. */
  readonly built: Map<4 | 6, BuiltChain>
}

/** Where packets of a pod in one direction go first. */
export interface FirstChains {
  readonly first: SharedChain
  /** For packets to itself: NetworkPolicies always allow them. Undefined: all policies do. */
  readonly self: SharedChain | undefined
}

/** Policies by key. */
export type PolicyEntry = readonly [key: string, policy: CompiledPolicy]

export class TierChains {
  readonly #chains = new Map<string, SharedChain>()

  get all(): Iterable<SharedChain> {
    return this.#chains.values()
  }

  /** The chains of a pod that these policies select. Undefined if none is about the direction. */
  firstFor(direction: Direction, selecting: readonly PolicyEntry[]): FirstChains | undefined {
    const concerned = selecting.filter(([, { rules }]) => rules[direction])
    const keysOf = (tier: Tier): string[] =>
      concerned
        .filter(([, policy]) => policy.tier === tier)
        .sort(([a, { priority }], [b, other]) => priority - other.priority || (a < b ? -1 : 1))
        .map(([key]) => key)
    const chain = (tier: Tier, next: SharedChain | undefined): SharedChain | undefined => {
      const keys = keysOf(tier)
      return keys.length === 0 ? next : this.#shared(direction, tier, keys, next)
    }
    const baseline = chain('Baseline', undefined)
    const policies = chain('NetworkPolicy', undefined)
    const first = chain('Admin', policies ?? baseline)
    return first && { first, self: policies ? chain('Admin', undefined) : first }
  }

  /** Forgets chains that no pod has. */
  retain(used: ReadonlySet<SharedChain>): void {
    for (const [key, chain] of this.#chains) if (!used.has(chain)) this.#chains.delete(key)
  }

  #shared(direction: Direction, tier: Tier, policies: readonly string[], next: SharedChain | undefined): SharedChain {
    const key = JSON.stringify([direction, tier, policies, next?.name])
    const known = this.#chains.get(key)
    if (known) return known
    const prefix = tier === 'NetworkPolicy' ? '' : `${tier.toLowerCase()}-`
    const name = `${prefix}${direction.toLowerCase()}-${hashOf(key)}`
    const chain = { name, direction, tier, policies, next, built: new Map() }
    this.#chains.set(key, chain)
    return chain
  }
}
