/** Rules of policies in nftables. */
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
import { hasProtocol, isInIntervals, isInSet } from '../../netlink/nftables/matches.ts'
import { type DataType, dataTypes, goTo } from '../../netlink/nftables/values.ts'
import { allPorts } from '../picture/compiled-policy.ts'
import type { PeerMatch, PolicyChain, PolicyRule, PolicySet, PortMatch } from '../rules/policy-state.ts'

/** The field of a packet with the address of the other end. */
const peerFields = { Ingress: 'saddr', Egress: 'daddr' } as const

const destinationSelectors = (family: 4 | 6): readonly Selector[] => [
  addressSelector(family, 'daddr'),
  protocolSelector,
  portSelector,
]

export const addressTypeOf = (family: 4 | 6): DataType => (family === 4 ? dataTypes.ipv4Address : dataTypes.ipv6Address)

export const keyTypesOf = (kind: PolicySet['kind'], family: 4 | 6): readonly DataType[] =>
  kind === 'addresses' ? [addressTypeOf(family)] : destinationSelectors(family).map(({ type }) => type)

export function rulesOf({ direction, rules }: PolicyChain, family: 4 | 6): Rule[] {
  const selector = addressSelector(family, peerFields[direction])
  return rules.map((rule) => ({ expressions: expressionsOf(rule, selector, family), comment: rule.comment }))
}

function expressionsOf(rule: PolicyRule, selector: Selector, family: 4 | 6): Expression[] {
  return [
    ...(rule.peers ? [peerExpression(rule.peers, selector, family)] : []),
    ...(rule.ports ? portExpressions(rule.ports) : []),
    ...(rule.destinations === undefined ? [] : [isInSet(destinationSelectors(family), rule.destinations)]),
    verdict(typeof rule.verdict === 'string' ? { action: rule.verdict } : goTo(rule.verdict.goTo)),
  ]
}

function peerExpression(peers: PeerMatch, selector: Selector, family: 4 | 6): Expression {
  if (peers.kind === 'set') return isInSet([selector], peers.set)
  const label = peers.blocks.map(({ range, except }) => [range, ...except].join(' except ')).join(', ')
  return isInIntervals(selector, label, intervalsOfBlocks(family, peers.blocks), false)
}

function portExpressions({ protocol, ranges }: PortMatch): Expression[] {
  const is = hasProtocol(protocol.toLowerCase())
  if (ranges.length === 0) return [is]
  const text = ranges.map(({ first, last }) => (first === last ? String(first) : `${first}-${last}`)).join(', ')
  const bytes = (port: number): Buffer => Buffer.from([port >> 8, port & 255])
  const intervals = ranges.map(({ first, last }) => ({
    first: bytes(first),
    end: last === allPorts.last ? undefined : bytes(last + 1),
  }))
  return [is, isInIntervals(portSelector, text, intervals, false)]
}
