/**
 * A policy of an administrator in one form for all kinds. Rules that cannot be understood fail closed, as the API
 * requires: those that accept match nothing, and others deny everything.
 */

import type { Resource } from '../../../../client/resource.ts'
import { parseCidr } from '../../../../lib/cidr.ts'
import { messageOf } from '../../../../lib/message-of.ts'
import { type LabelSelector, labelSelectorOf } from '../../../../machinery/selectors/label-selector.ts'
import type { Direction, Peer, RulePorts } from '../compiled-policy.ts'
import {
  type AdminPeer,
  type AdminPolicyObject,
  type AdminRule,
  type AdminSubject,
  adminNetworkPolicies,
  baselineAdminNetworkPolicies,
} from './kinds.ts'
import { portsOf, protocolsOf } from './rule-ports.ts'

export type AdminTier = 'Admin' | 'Baseline'

export type RuleAction = 'Accept' | 'Deny' | 'Pass'

export interface TierRule {
  /** `rule 2 (no-tenants)`. */
  readonly title: string
  readonly action: RuleAction
  /** The connections that it is about; `nothing` and `everything` of rules that fail closed. */
  readonly scope: 'peers' | 'everything' | 'nothing'
  /** In the form of those of NetworkPolicies. */
  readonly peers: readonly Peer[]
  /** Nodes that are peers, too. */
  readonly nodes: readonly LabelSelector[]
  /** Undefined: all. */
  readonly ports: RulePorts
  /** The reason why it fails closed. */
  readonly problem?: string
}

export interface AdminPolicy {
  /** `AdminNetworkPolicy lockdown`. */
  readonly title: string
  readonly tier: AdminTier
  /** The smallest one is evaluated first; equal ones by kind, then by name. */
  readonly priority: number
  /** Undefined: the policy has no effect, for the reason in `problems`. */
  readonly subject: Peer | undefined
  readonly rules: Readonly<Record<Direction, readonly TierRule[]>>
  /** Sentences about what has no effect, or fails closed. */
  readonly problems: readonly string[]
}

const maxPriority = 1000
/** A BaselineAdminNetworkPolicy comes after all ClusterNetworkPolicies of its tier. */
const lastPriority = maxPriority + 1

/** Never throws: objects may have any form. */
export function adminPolicyOf({ kind, plural }: Resource, object: AdminPolicyObject): AdminPolicy {
  const name = object.metadata.name ?? ''
  const title = `${kind} ${name}`
  const spec = object.spec ?? {}
  const isBaseline = plural === baselineAdminNetworkPolicies.plural
  const isAdmin = plural === adminNetworkPolicies.plural
  const tier = isBaseline ? 'Baseline' : isAdmin ? 'Admin' : spec.tier
  const priority = isBaseline ? lastPriority : spec.priority
  const head = { title, tier: tier === 'Baseline' ? 'Baseline' : 'Admin', priority: priority ?? 0 } as const
  const useless = (problem: string): AdminPolicy => ({
    ...head,
    subject: undefined,
    rules: { Ingress: [], Egress: [] },
    problems: [`it has no effect: ${problem}`],
  })
  if (isBaseline && name !== 'default') return useless('only the one with the name default is used')
  if (tier !== 'Admin' && tier !== 'Baseline') return useless(`spec.tier must be Admin or Baseline`)
  if (!isBaseline && !isNumber(priority, 0, maxPriority)) return useless('spec.priority must be 0 to 1000')
  try {
    const subject = onlyPeer(spec.subject ?? {})
    if (!subject) return useless('spec.subject must have either namespaces or pods')
    const accept = isAdmin || isBaseline ? 'Allow' : 'Accept'
    const actions = isBaseline ? [accept, 'Deny'] : [accept, 'Deny', 'Pass']
    const read = (rules: readonly AdminRule[] | undefined, direction: Direction): TierRule[] =>
      listOf(`spec.${direction.toLowerCase()}`, rules).map((rule, index) => tierRule(rule, index, direction, actions))
    const rules = { Ingress: read(spec.ingress, 'Ingress'), Egress: read(spec.egress, 'Egress') }
    return {
      ...head,
      subject,
      rules,
      problems: (['Ingress', 'Egress'] as const).flatMap((one) => problemsOf(one, rules[one])),
    }
  } catch (error) {
    return useless(messageOf(error))
  }
}

const problemsOf = (direction: Direction, rules: readonly TierRule[]): string[] =>
  rules.flatMap(({ title, scope, problem }) => {
    const effect = scope === 'nothing' ? 'has no effect' : 'denies everything'
    return problem === undefined ? [] : [`${direction.toLowerCase()} ${title} ${effect}: ${problem}`]
  })

function tierRule(rule: AdminRule, index: number, direction: Direction, actions: readonly string[]): TierRule {
  const { name, action } = rule
  const title = `rule ${index + 1}${name ? ` (${name})` : ''}`
  const known = action === 'Allow' ? 'Accept' : action
  try {
    if ((known !== 'Accept' && known !== 'Deny' && known !== 'Pass') || !actions.includes(action))
      throw new Error(`its action must be ${actions.join(' or ')}`)
    const given = direction === 'Ingress' ? listOf('from', rule.from) : listOf('to', rule.to)
    if (given.length === 0) throw new Error(`it has no peers (${direction === 'Ingress' ? 'from' : 'to'})`)
    const peers = given.map((peer) => peersOf(peer, direction))
    return {
      title,
      action: known,
      scope: 'peers',
      peers: peers.flatMap((one) => one.peers),
      nodes: peers.flatMap((one) => one.nodes),
      ports: rule.protocols
        ? protocolsOf(listOf('protocols', rule.protocols))
        : rule.ports && portsOf(listOf('ports', rule.ports)),
    }
  } catch (error) {
    const none = { peers: [], nodes: [], ports: undefined, problem: messageOf(error) }
    return known === 'Accept'
      ? { title, action: 'Accept', scope: 'nothing', ...none }
      : { title, action: 'Deny', scope: 'everything', ...none }
  }
}

/** Throws an Error for peers that cannot be understood. */
function peersOf(peer: AdminPeer, direction: Direction): Pick<TierRule, 'peers' | 'nodes'> {
  const { nodes, networks, domainNames } = peer
  const others = [nodes, networks, domainNames].filter((one) => one !== undefined)
  const pods = onlyPeer(peer)
  if (pods && others.length === 0) return { peers: [pods], nodes: [] }
  if (domainNames) throw new Error('peers by domainNames are not supported')
  if (pods || others.length !== 1 || direction === 'Ingress')
    throw new Error('a peer has none of the fields that are supported, or several')
  if (nodes) {
    labelSelectorOf(nodes)
    return { peers: [], nodes: [nodes] }
  }
  return { peers: listOf('networks', networks).map((cidr) => ({ ipBlock: { cidr: validRange(cidr) } })), nodes: [] }
}

/** Undefined if none or both of the fields are set. Throws an Error for invalid selectors. */
function onlyPeer({ namespaces, pods }: AdminSubject): Peer | undefined {
  if ((namespaces === undefined) === (pods === undefined)) return undefined
  const peer: Peer = namespaces
    ? { namespaceSelector: namespaces }
    : { namespaceSelector: pods?.namespaceSelector ?? {}, podSelector: pods?.podSelector ?? {} }
  for (const selector of [peer.namespaceSelector, peer.podSelector]) labelSelectorOf(selector)
  return peer
}

/** Definitions may check less than the API's own ones. Throws an Error for something else than a list. */
function listOf<T>(field: string, value: readonly T[] | undefined): readonly T[] {
  if (value !== undefined && !Array.isArray(value)) throw new Error(`${field} must be a list`)
  return value ?? []
}

function validRange(text: string): string {
  if (!parseCidr(text)) throw new Error(`${JSON.stringify(text)} is not a range of addresses like 10.0.0.0/8`)
  return text
}

/** True for an integer of the range. */
const isNumber = (value: number | undefined, least: number, most: number): value is number =>
  Number.isInteger(value) && value !== undefined && value >= least && value <= most
