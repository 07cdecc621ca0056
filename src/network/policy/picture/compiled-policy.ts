/** Policies in the form that rules are made from: selectors are parsed once, and both directions have one shape. */
import type { NetworkPolicy } from '../../../client/kinds.ts'
import type { Labels } from '../../../machinery/selectors/label-selector.ts'
import { labelSelectorOf } from '../../../machinery/selectors/label-selector.ts'
import type { AddressBlock } from '../../netlink/nftables/address-intervals.ts'
import type { PolicyPod } from './policy-objects.ts'

export type Direction = 'Ingress' | 'Egress'

export const directions = ['Egress', 'Ingress'] as const satisfies readonly Direction[]

/** Selects pods by their labels and those of their namespaces. */
export interface PodSelector {
  /** Equal for selectors that select the same pods. */
  readonly key: string
  /** `labels` are those of the namespace; undefined if it does not exist. */
  readonly matches: (pod: PolicyPod, labels: Labels | undefined) => boolean
}

/** Ports of a protocol: `TCP`, `UDP` or `SCTP`. */
export interface PortRange {
  readonly protocol: string
  readonly first: number
  readonly last: number
}

/** A port that each destination pod has another number for. */
export interface PortName {
  readonly protocol: string
  readonly name: string
}

export interface Ports {
  readonly ranges: readonly PortRange[]
  readonly names: readonly PortName[]
}

/** Selects nodes by their labels. */
export interface NodeSelector {
  /** As that of a PodSelector. */
  readonly key: string
  readonly matches: (labels: Labels) => boolean
}

export interface Peers {
  /** Undefined: no pods. */
  readonly pods: PodSelector | undefined
  readonly blocks: readonly AddressBlock[]
  /** Undefined: no nodes. */
  readonly nodes?: NodeSelector | undefined
}

/** Policies of a tier are evaluated if those of the one before have not decided. */
export type Tier = 'Admin' | 'NetworkPolicy' | 'Baseline'

/** Connections that a rule is about. */
export interface CompiledRule {
  /** Undefined: everybody. */
  readonly peers: Peers | undefined
  /** Undefined: all ports and protocols. */
  readonly ports: Ports | undefined
  /** The first rule of a tier that matches decides. Those of NetworkPolicies accept. */
  readonly action: 'Accept' | 'Deny' | 'Pass'
  /** Names the rule for people. */
  readonly title: string
}

export interface CompiledPolicy {
  readonly tier: Tier
  /** The order in the tier: by priority, then by name. NetworkPolicies have none. */
  readonly priority: number
  /** `NAMESPACE/NAME`, or the kind and the name of an administrator's. */
  readonly name: string
  /** The pods that the policy isolates, or that rules of an administrator are about. */
  readonly subject: PodSelector
  /** Only the directions which it is about. */
  readonly rules: Readonly<Partial<Record<Direction, readonly CompiledRule[]>>>
}

type Spec = NonNullable<NetworkPolicy['spec']>
/** A peer of a rule; those of both directions have the same form. */
export type Peer = NonNullable<NonNullable<Spec['ingress']>[number]['from']>[number]
export type RulePorts = NonNullable<Spec['ingress']>[number]['ports']

const maxPort = 65_535

export const allPorts = { first: 1, last: maxPort } as const

/** The directions in which a policy isolates pods. */
export const typesOf = ({ policyTypes, egress }: Spec): readonly string[] =>
  policyTypes ?? (egress?.length ? ['Ingress', 'Egress'] : ['Ingress'])

/** Parses the selectors of a policy. */
export function compiledPolicy({ metadata, spec }: NetworkPolicy): CompiledPolicy {
  const namespace = metadata.namespace ?? ''
  const types = spec ? typesOf(spec) : []
  const rule = (peers: readonly Peer[] | undefined, ports: RulePorts): CompiledRule => ({
    peers: peers?.length ? compiledPeers(namespace, peers) : undefined,
    ports: ports?.length ? compiledPorts(ports) : undefined,
    action: 'Accept',
    title: `${namespace}/${metadata.name}`,
  })
  return {
    tier: 'NetworkPolicy',
    priority: 0,
    name: `${namespace}/${metadata.name}`,
    subject: podSelectorOf(namespace, [{ podSelector: spec?.podSelector ?? {} }]),
    rules: {
      ...(types.includes('Ingress') && { Ingress: (spec?.ingress ?? []).map(({ from, ports }) => rule(from, ports)) }),
      ...(types.includes('Egress') && { Egress: (spec?.egress ?? []).map(({ to, ports }) => rule(to, ports)) }),
    },
  }
}

/** `namespace` is that of the policy. */
export function compiledPeers(namespace: string, peers: readonly Peer[]): Peers {
  const selectors = peers.filter(({ ipBlock }) => !ipBlock)
  return {
    pods: selectors.length > 0 ? podSelectorOf(namespace, selectors) : undefined,
    blocks: peers.flatMap(({ ipBlock }) => (ipBlock ? [{ range: ipBlock.cidr, except: ipBlock.except ?? [] }] : [])),
  }
}

/** Pods that one of the peers selects. `namespace` is that of the policy. */
export function podSelectorOf(namespace: string, peers: readonly Peer[]): PodSelector {
  const isLocal = peers.some(({ namespaceSelector }) => !namespaceSelector)
  const matchers = peers.map(({ podSelector, namespaceSelector }): PodSelector['matches'] => {
    const isPod = labelSelectorOf(podSelector ?? {})
    if (!namespaceSelector) return (pod) => pod.namespace === namespace && isPod.matches(pod.labels)
    const isNamespace = labelSelectorOf(namespaceSelector)
    return (pod, labels) => labels !== undefined && isNamespace.matches(labels) && isPod.matches(pod.labels)
  })
  return {
    key: JSON.stringify([isLocal ? namespace : '', peers]),
    matches: (pod, labels) => matchers.some((matches) => matches(pod, labels)),
  }
}

/** Ports by number are ranges. */
export function compiledPorts(ports: NonNullable<RulePorts>): Ports {
  const ranges: PortRange[] = []
  const names: PortName[] = []
  for (const { protocol = 'TCP', port, endPort } of ports)
    if (port === undefined) ranges.push({ protocol, ...allPorts })
    else if (typeof port === 'number') ranges.push({ protocol, first: port, last: endPort ?? port })
    else names.push({ protocol, name: port })
  return { ranges, names }
}
