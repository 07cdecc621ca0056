/** A chain: the rules of the policies of a tier for pods in one direction. Pods with the same policies share it. */
import { createHash } from 'node:crypto'
import { parseCidr } from '../../../lib/cidr.ts'
import type { AddressBlock } from '../../netlink/nftables/address-intervals.ts'
import {
  allPorts,
  type CompiledPolicy,
  type CompiledRule,
  type Direction,
  type NodeSelector,
  type Peers,
  type PodSelector,
  type Ports,
  type Tier,
} from '../picture/compiled-policy.ts'
import { everyPod, type NamedDestinations } from './pod-groups.ts'
import type { PeerMatch, PolicyChain, PolicyRule, PortMatch } from './policy-state.ts'

/** The contents of a set. */
export type SetSource =
  | { readonly kind: 'addresses'; readonly pods: PodSelector }
  | { readonly kind: 'nodes'; readonly nodes: NodeSelector }
  | ({ readonly kind: 'destinations' } & NamedDestinations)

/** A chain of one family, with the sets that its rules look up. */
export interface BuiltChain extends PolicyChain {
  readonly sets: ReadonlyMap<string, SetSource>
}

/** nftables limits comments to 128 bytes, with the byte that ends them. */
const maxComment = 120

export interface ChainOptions {
  readonly direction: Direction
  readonly tier: Tier
  /** In the order in which their rules are evaluated. */
  readonly policies: readonly CompiledPolicy[]
  /** The chain of the next tier. Undefined: what is not decided is allowed. */
  readonly next: string | undefined
  readonly family: 4 | 6
}

/** Rules of a tier. What none decides goes to the next tier; NetworkPolicies drop what no rule allows. */
export function builtChain({ direction, tier, policies, next, family }: ChainOptions): BuiltChain {
  const sets = new Map<string, SetSource>()
  const onward: PolicyRule['verdict'] = next === undefined ? 'return' : { goTo: next }
  const builder = new ChainBuilder(direction, family, sets)
  const rules = policies.flatMap((policy) =>
    (policy.rules[direction] ?? []).flatMap((rule) =>
      builder.add(policy, rule, {
        verdict: ({ Accept: 'return', Deny: 'drop', Pass: onward } as const)[rule.action],
        comment: commentOf(rule.title),
      }),
    ),
  )
  const names = policies.map(({ name }) => name).join(', ')
  if (tier === 'NetworkPolicy') rules.push({ verdict: 'drop', comment: commentOf(`not allowed by ${names}`) })
  else if (next !== undefined) rules.push({ verdict: onward, comment: commentOf(`not decided by ${names}`) })
  return { direction, rules, sets }
}

/** Titles of rules may have any characters, and names of policies more than fit. */
function commentOf(text: string): string {
  const safe = text.replace(/[^ !#-[\]-~]/g, '?')
  return safe.length > maxComment ? `${safe.slice(0, maxComment - 3)}...` : safe
}

class ChainBuilder {
  readonly #direction: Direction
  readonly #family: 4 | 6
  readonly #sets: Map<string, SetSource>

  constructor(direction: Direction, family: 4 | 6, sets: Map<string, SetSource>) {
    this.#direction = direction
    this.#family = family
    this.#sets = sets
  }

  add(
    { subject }: CompiledPolicy,
    { peers, ports }: CompiledRule,
    rest: Pick<PolicyRule, 'verdict' | 'comment'>,
  ): PolicyRule[] {
    const ends = this.#ends(peers)
    const places = ports ? portMatches(ports) : [undefined]
    return [
      ...ends.flatMap((end) =>
        places.map((place): PolicyRule => ({ ...(end && { peers: end }), ...(place && { ports: place }), ...rest })),
      ),
      ...this.#namedPorts(ports, peers, subject).map(
        ({ end, destinations }): PolicyRule => ({ ...(end && { peers: end }), destinations, ...rest }),
      ),
    ]
  }

  /** Conditions for the other end, each a way to be allowed. Undefined: everybody. */
  #ends(peers: Peers | undefined): (PeerMatch | undefined)[] {
    if (!peers) return [undefined]
    const blocks = this.#blocks(peers)
    const { pods, nodes } = peers
    return [
      ...(pods ? [{ kind: 'set', set: this.#set({ kind: 'addresses', pods }) } as const] : []),
      ...(nodes ? [{ kind: 'set', set: this.#set({ kind: 'nodes', nodes }) } as const] : []),
      ...(blocks.length > 0 ? [{ kind: 'blocks', blocks } as const] : []),
    ]
  }

  /** Names are those of the destination: the pod itself for ingress, and the peer for egress. */
  #namedPorts(ports: Ports | undefined, peers: Peers | undefined, subject: PodSelector) {
    if (!ports || ports.names.length === 0) return []
    const { names } = ports
    if (this.#direction === 'Ingress') {
      const destinations = this.#set({ kind: 'destinations', names, pods: subject, blocks: [] })
      return this.#ends(peers).map((end) => ({ end, destinations }))
    }
    const pods = peers ? peers.pods : everyPod
    const blocks = peers ? this.#blocks(peers) : []
    if (!pods && blocks.length === 0) return []
    return [{ end: undefined, destinations: this.#set({ kind: 'destinations', names, pods, blocks }) }]
  }

  #blocks({ blocks }: Peers): readonly AddressBlock[] {
    return blocks.filter(({ range }) => parseCidr(range)?.family === this.#family)
  }

  #set(source: SetSource): string {
    const name = `${prefixes[source.kind]}-${hashOf(JSON.stringify(keyOf(source)))}`
    this.#sets.set(name, source)
    return name
  }
}

const prefixes = { addresses: 'pods', nodes: 'nodes', destinations: 'ports' } as const

function keyOf(source: SetSource): unknown {
  switch (source.kind) {
    case 'addresses':
      return source.pods.key
    case 'nodes':
      return source.nodes.key
    case 'destinations':
      return [source.names, source.pods?.key, source.blocks]
    default:
      return source satisfies never
  }
}

/** A condition for each protocol. */
function portMatches({ ranges }: Ports): PortMatch[] {
  return [...new Set(ranges.map(({ protocol }) => protocol))].map((protocol) => {
    const merged: { first: number; last: number }[] = []
    for (const { first, last } of ranges
      .filter((range) => range.protocol === protocol)
      .sort((a, b) => a.first - b.first)) {
      const before = merged.at(-1)
      if (before && first <= before.last + 1) before.last = Math.max(before.last, last)
      else merged.push({ first, last })
    }
    const isAny = merged[0]?.first === allPorts.first && merged[0].last === allPorts.last
    return { protocol, ranges: isAny ? [] : merged }
  })
}

/** Names of chains and sets are short; the policies are in comments. */
export const hashOf = (text: string): string => createHash('sha256').update(text).digest('hex').slice(0, 16)
