/** The content of the table of network policies, computed from what pods may do. */
import { createHash } from 'node:crypto'
import { isIP } from 'node:net'
import { verdict } from '../../netlink/nftables/actions.ts'
import { intervalsOfBlocks } from '../../netlink/nftables/address-intervals.ts'
import type { Rule } from '../../netlink/nftables/commands.ts'
import {
  addressSelector,
  type Expression,
  portSelector,
  protocolSelector,
  type Selector,
} from '../../netlink/nftables/expression.ts'
import { hasPrefix, hasProtocol, isInIntervals, isInSet } from '../../netlink/nftables/matches.ts'
import { type DataType, dataTypes, drop, keyBytes } from '../../netlink/nftables/values.ts'
import { PeerSearch, type Peers } from '../picture/peers.ts'
import { type AllowRule, type Direction, type PortName, type PortRange, rulesOf } from '../picture/pod-rules.ts'
import type { PolicyObjects, PolicyPod } from '../picture/policy-objects.ts'

export interface WantedSet {
  readonly keyTypes: readonly DataType[]
  /** In the syntax of `nft`. */
  readonly elements: ReadonlySet<string>
}

export interface TableState {
  readonly chains: ReadonlyMap<string, readonly Rule[]>
  readonly sets: ReadonlyMap<string, WantedSet>
  /** The chains of isolated pods by their address. */
  readonly isolated: Readonly<Record<Direction, ReadonlyMap<string, string>>>
}

/** The field of a packet with the address of the other end. */
const peerFields = { Ingress: 'saddr', Egress: 'daddr' } as const

export const addressTypeOf = (family: 4 | 6): DataType => (family === 4 ? dataTypes.ipv4Address : dataTypes.ipv6Address)

/** The table for the pods of a node. */
export function tableState(objects: PolicyObjects, node: string, family: 4 | 6): TableState {
  return new StateBuilder(objects, family).build(node)
}

class StateBuilder {
  readonly #objects: PolicyObjects
  readonly #family: 4 | 6
  readonly #search: PeerSearch
  readonly #chains = new Map<string, readonly Rule[]>()
  readonly #sets = new Map<string, WantedSet>()

  constructor(objects: PolicyObjects, family: 4 | 6) {
    this.#objects = objects
    this.#family = family
    this.#search = new PeerSearch(objects)
  }

  build(node: string): TableState {
    const isolated = { Ingress: new Map<string, string>(), Egress: new Map<string, string>() }
    for (const pod of this.#objects.pods) {
      const addresses = this.#addressesOf(pod)
      if (pod.node !== node || addresses.length === 0) continue
      for (const direction of ['Ingress', 'Egress'] as const) {
        const rules = rulesOf(pod, direction, this.#objects.policies, this.#search)
        if (!rules) continue
        const chain = `${direction.toLowerCase()}-${hashOf(`${pod.namespace}/${pod.name}`)}`
        this.#chains.set(chain, this.#chainOf(pod, direction, rules, addresses))
        for (const address of addresses) isolated[direction].set(address, chain)
      }
    }
    return { chains: this.#chains, sets: this.#sets, isolated }
  }

  /** A pod always reaches itself, also by a Service. Rules return; what no rule allows is dropped. */
  #chainOf(pod: PolicyPod, direction: Direction, rules: readonly AllowRule[], own: readonly string[]): Rule[] {
    const selector = addressSelector(this.#family, peerFields[direction])
    const name = `${pod.namespace}/${pod.name}`
    return [
      ...own.map((address) => allowed([this.#isAddress(selector, address)], name)),
      ...rules.flatMap((rule) => this.#rulesFor(rule, selector)),
      { expressions: [verdict(drop)], comment: name },
    ]
  }

  #rulesFor({ policy, peers, ports, names }: AllowRule, selector: Selector): Rule[] {
    const ends = this.#ends(peers, selector)
    const places = ports ? conditionsOf(ports) : [[]]
    return [
      ...ends.flatMap((end) => places.map((place) => allowed([...end, ...place], policy))),
      ...this.#namedPorts(names, peers, selector).map((expression) => allowed([expression], policy)),
    ]
  }

  /** Conditions for the other end, each a way to be allowed. */
  #ends(peers: Peers | undefined, selector: Selector): (readonly Expression[])[] {
    if (!peers) return [[]]
    const addresses = new Set(peers.pods.flatMap((pod) => this.#addressesOf(pod)))
    const intervals = intervalsOfBlocks(this.#family, peers.blocks)
    const label = peers.blocks.map(({ range, except }) => [range, ...except].join(' except ')).join(', ')
    return [
      ...(addresses.size > 0 ? [[isInSet([selector], this.#set('pods', peers.key, [selector.type], addresses))]] : []),
      ...(intervals.length > 0 ? [[isInIntervals(selector, label, intervals, false)]] : []),
    ]
  }

  /** The ports of destinations with these names. */
  #namedPorts(names: readonly PortName[], peers: Peers | undefined, selector: Selector): Expression[] {
    if (names.length === 0) return []
    const intervals = intervalsOfBlocks(this.#family, peers?.blocks ?? [])
    const pods = new Set(peers ? peers.pods : this.#objects.pods)
    const isPeer = (pod: PolicyPod, address: string): boolean => {
      if (pods.has(pod)) return true
      const bytes = keyBytes([selector.type], address)
      return intervals.some(
        ({ first, end }) => Buffer.compare(first, bytes) <= 0 && (!end || Buffer.compare(bytes, end) < 0),
      )
    }
    const elements = new Set<string>()
    for (const pod of this.#objects.pods)
      for (const { name, protocol, port } of pod.ports)
        if (names.some((wanted) => wanted.name === name && wanted.protocol === protocol))
          for (const address of this.#addressesOf(pod))
            if (isPeer(pod, address)) elements.add(`${address} . ${protocol.toLowerCase()} . ${port}`)
    if (elements.size === 0) return []
    const fields = [selector, protocolSelector, portSelector]
    const types = fields.map(({ type }) => type)
    const key = JSON.stringify([names, peers?.key, peers?.blocks])
    return [isInSet(fields, this.#set('ports', key, types, elements))]
  }

  #set(kind: string, key: string, keyTypes: readonly DataType[], elements: ReadonlySet<string>): string {
    const name = `${kind}-${hashOf(key)}`
    this.#sets.set(name, { keyTypes, elements })
    return name
  }

  #isAddress(selector: Selector, address: string): Expression {
    const bits = this.#family === 4 ? 32 : 128
    return hasPrefix(selector, { text: address, address: keyBytes([selector.type], address), bits }, false)
  }

  #addressesOf({ addresses }: PolicyPod): string[] {
    return addresses.filter((address) => isIP(address) === this.#family)
  }
}

const allowed = (expressions: readonly Expression[], policy: string): Rule => ({
  expressions: [...expressions, verdict({ action: 'return' })],
  comment: policy,
})

/** A condition for each protocol. */
function conditionsOf(ports: readonly PortRange[]): (readonly Expression[])[] {
  return [...new Set(ports.map(({ protocol }) => protocol))].map((protocol) => {
    const ranges = ports.filter((range) => range.protocol === protocol)
    const text = ranges.map(({ first, last }) => (first === last ? String(first) : `${first}-${last}`)).join(', ')
    const is = hasProtocol(protocol.toLowerCase())
    const isAny = ranges.some(({ first, last }) => first === 1 && last === maxPort)
    return isAny ? [is] : [is, isInIntervals(portSelector, text, portIntervals(ranges), false)]
  })
}

const maxPort = 65_535

function portIntervals(ranges: readonly PortRange[]) {
  const bytes = (port: number): Buffer => Buffer.from([port >> 8, port & 255])
  const sorted = [...ranges].sort((a, b) => a.first - b.first)
  const merged: { first: number; last: number }[] = []
  for (const { first, last } of sorted) {
    const before = merged.at(-1)
    if (before && first <= before.last + 1) before.last = Math.max(before.last, last)
    else merged.push({ first, last })
  }
  return merged.map(({ first, last }) => ({ first: bytes(first), end: last === maxPort ? undefined : bytes(last + 1) }))
}

/** Names of chains and sets are short; what they are for is in comments. */
const hashOf = (text: string): string => createHash('sha256').update(text).digest('hex').slice(0, 16)
