/** A chain: the rules of the policies that isolate pods in one direction. Pods with the same policies share it. */
import { createHash } from 'node:crypto'
import { parseCidr } from '../../../lib/cidr.ts'
import type { AddressBlock } from '../../netlink/nftables/address-intervals.ts'
import {
  allPorts,
  type CompiledPolicy,
  type CompiledRule,
  type Direction,
  type Peers,
  type PodSelector,
  type Ports,
} from '../picture/compiled-policy.ts'
import { everyPod, type NamedDestinations } from './pod-groups.ts'
import type { PeerMatch, PolicyChain, PolicyRule, PortMatch } from './policy-state.ts'

/** The contents of a set. */
export type SetSource =
  | { readonly kind: 'addresses'; readonly pods: PodSelector }
  | ({ readonly kind: 'destinations' } & NamedDestinations)

/** A chain of one family, with the sets that its rules look up. */
export interface BuiltChain extends PolicyChain {
  readonly sets: ReadonlyMap<string, SetSource>
}

/** nftables limits comments to 128 bytes, with the byte that ends them. */
const maxComment = 120

/** Rules return for what is allowed; what no rule allows is dropped. */
export function builtChain(direction: Direction, policies: readonly CompiledPolicy[], family: 4 | 6): BuiltChain {
  const sets = new Map<string, SetSource>()
  const builder = new ChainBuilder(direction, family, sets)
  const rules = policies.flatMap((policy) =>
    (policy.rules[direction] ?? []).flatMap((rule) => builder.add(policy, rule)),
  )
  const names = policies.map(({ name }) => name).join(', ')
  const comment = `not allowed by ${names}`
  rules.push({
    verdict: 'drop',
    comment: comment.length > maxComment ? `${comment.slice(0, maxComment - 3)}...` : comment,
  })
  return { direction, rules, sets }
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

  add({ name, subject }: CompiledPolicy, { peers, ports }: CompiledRule): PolicyRule[] {
    const ends = this.#ends(peers)
    const places = ports ? portMatches(ports) : [undefined]
    const rest = { verdict: 'return', comment: name } as const
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
    return [
      ...(peers.pods ? [{ kind: 'set', set: this.#set({ kind: 'addresses', pods: peers.pods }) } as const] : []),
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
    const key = source.kind === 'addresses' ? source.pods.key : [source.names, source.pods?.key, source.blocks]
    const name = `${source.kind === 'addresses' ? 'pods' : 'ports'}-${hashOf(JSON.stringify(key))}`
    this.#sets.set(name, source)
    return name
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
