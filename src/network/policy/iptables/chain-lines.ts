/** Rules of policies in iptables, without `-A CHAIN`. */
import type { AddressBlock } from '../../netlink/nftables/address-intervals.ts'
import { type Direction, directions } from '../picture/compiled-policy.ts'
import type { PeerMatch, PolicyChain, PolicyRule, PolicySet, PolicyState, PortMatch } from '../rules/policy-state.ts'
import type { KernelNames } from './kernel-names.ts'
import { prefixesOf } from './prefixes.ts'

/** Where the rules of a chain find the elements of sets. */
export interface SetLookup {
  readonly family: 4 | 6
  readonly sets: ReadonlyMap<string, PolicySet>
  /** The name in the kernel. Undefined without sets there: rules have the elements themselves. */
  readonly kernelName: ((set: string) => string) | undefined
  /** The name of a chain in the kernel. */
  readonly chainName: (chain: string) => string
}

/** A jump of the kernel's own chain, in the first place. */
export const entryRule = (chain: string): string => `-m comment --comment "network policies of pods" -j ${chain}`

/** MLD, and neighbor discovery without redirects. */
const neighborDiscovery = [130, 131, 132, 133, 134, 135, 136, 143]

/** Node processes reach all pods, so that packets from this machine have no chain. */
export function fixedLines(family: 4 | 6, { entry }: KernelNames): ReadonlyMap<string, readonly string[]> {
  const passing = [
    '-m conntrack --ctstate RELATED,ESTABLISHED -j RETURN',
    ...(family === 6 ? neighborDiscovery.map((type) => `-p ipv6-icmp -m icmp6 --icmpv6-type ${type} -j RETURN`) : []),
  ]
  return new Map([
    [entry.forward, [...passing, ...directions.map((direction) => `-j ${entry[direction]}`)]],
    [entry.input, [...passing, `-j ${entry.Egress}`]],
  ])
}

const ends = { Ingress: '-d', Egress: '-s' } as const
const otherEnds = { Ingress: '-s', Egress: '-d' } as const
const setEnds = { Ingress: 'src', Egress: 'dst' } as const

/** `-g` makes the rules of a pod return to the entry chain. */
export const dispatchLines = (
  { isolated, selfIsolated }: PolicyState,
  direction: Direction,
  names: KernelNames,
): string[] =>
  [...isolated[direction]].flatMap(([address, chain]) => {
    const self = selfIsolated[direction].get(address)
    const toChain = `${ends[direction]} ${address} -g ${names.chain(chain)}`
    if (self === chain) return [toChain]
    return [`-s ${address} -d ${address} ${self === undefined ? '-j RETURN' : `-g ${names.chain(self)}`}`, toChain]
  })

export function chainLines({ direction, rules }: PolicyChain, lookup: SetLookup): string[] {
  return rules.flatMap((rule) =>
    conditionsOf(rule, direction, lookup).map((condition) =>
      [condition, `-m comment --comment "${rule.comment}"`, verdictText(rule.verdict, lookup)]
        .filter(Boolean)
        .join(' '),
    ),
  )
}

const verdicts = { return: '-j RETURN', drop: '-j DROP' } as const

const verdictText = (verdict: PolicyRule['verdict'], { chainName }: SetLookup): string =>
  typeof verdict === 'string' ? verdicts[verdict] : `-g ${chainName(verdict.goTo)}`

/** All ways to fulfill the conditions of a rule. */
function conditionsOf({ peers, ports, destinations }: PolicyRule, direction: Direction, lookup: SetLookup): string[] {
  const parts = [
    peers ? peerConditions(peers, direction, lookup) : [''],
    ports ? portConditions(ports) : [''],
    destinations === undefined ? [''] : destinationConditions(destinations, lookup),
  ]
  return parts.reduce((all, part) => all.flatMap((one) => part.map((more) => `${one} ${more}`.trim())))
}

function peerConditions(peers: PeerMatch, direction: Direction, lookup: SetLookup): string[] {
  const option = otherEnds[direction]
  if (peers.kind === 'blocks') return blockConditions(peers.blocks, option, lookup.family)
  const name = lookup.kernelName?.(peers.set)
  if (name !== undefined) return [`-m set --match-set ${name} ${setEnds[direction]}`]
  return [...(lookup.sets.get(peers.set)?.elements ?? [])].map((address) => `${option} ${address}`)
}

const blockConditions = (blocks: readonly AddressBlock[], option: string, family: 4 | 6): string[] =>
  prefixesOf(family, blocks).map((range) => (range.endsWith('/0') ? '' : `${option} ${range}`))

/** The match multiport has 15 places; a range takes two. */
const portPlaces = 15

function portConditions({ protocol, ranges }: PortMatch): string[] {
  const name = protocol.toLowerCase()
  if (ranges.length === 0) return [`-p ${name}`]
  const groups: string[][] = []
  let places = portPlaces
  for (const { first, last } of ranges) {
    const needed = first === last ? 1 : 2
    if (places + needed > portPlaces) {
      groups.push([])
      places = 0
    }
    groups.at(-1)?.push(first === last ? String(first) : `${first}:${last}`)
    places += needed
  }
  return groups.map((group) =>
    group.length === 1
      ? `-p ${name} -m ${name} --dport ${group.join()}`
      : `-p ${name} -m multiport --dports ${group.join()}`,
  )
}

function destinationConditions(set: string, lookup: SetLookup): string[] {
  const name = lookup.kernelName?.(set)
  if (name !== undefined) return [`-m set --match-set ${name} dst,dst`]
  return [...(lookup.sets.get(set)?.elements ?? [])].map((element) => {
    const [address = '', protocol = '', port = ''] = element.split(' . ')
    return `-d ${address} -p ${protocol} -m ${protocol} --dport ${port}`
  })
}
