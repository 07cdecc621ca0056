/** The connections that the policies of a pod allow, for one direction: the decision that rules are made from. */
import type { NetworkPolicy } from '../../../client/kinds.ts'
import { labelSelectorOf } from '../../../machinery/selectors/label-selector.ts'
import type { PeerSearch, Peers } from './peers.ts'
import type { PolicyPod } from './policy-objects.ts'

export type Direction = 'Ingress' | 'Egress'

/** Ports of a protocol. */
export interface PortRange {
  /** `TCP`, `UDP` or `SCTP`. */
  readonly protocol: string
  readonly first: number
  readonly last: number
}

/** A port that each destination pod has another number for. */
export interface PortName {
  readonly protocol: string
  readonly name: string
}

/** Connections that are allowed. */
export interface AllowRule {
  /** `NAMESPACE/NAME` of the policy. */
  readonly policy: string
  /** Undefined: everybody. */
  readonly peers: Peers | undefined
  /** Undefined: all ports and protocols. */
  readonly ports: readonly PortRange[] | undefined
  /** Only for the direction `Egress`. */
  readonly names: readonly PortName[]
}

type Spec = NonNullable<NetworkPolicy['spec']>
type Rule = {
  readonly peers: Parameters<PeerSearch['find']>[1] | undefined
  readonly ports: NonNullable<Spec['ingress']>[number]['ports']
}

const maxPort = 65_535

/** The rules of a pod; undefined if no policy selects it for the direction, so that everything is allowed. */
export function rulesOf(
  pod: PolicyPod,
  direction: Direction,
  policies: Iterable<NetworkPolicy>,
  search: PeerSearch,
): readonly AllowRule[] | undefined {
  const selecting = [...policies].filter((policy) => selects(policy, pod, direction))
  if (selecting.length === 0) return undefined
  return selecting.flatMap(({ metadata, spec }) => {
    const namespace = metadata.namespace ?? ''
    const rules: readonly Rule[] =
      direction === 'Ingress'
        ? (spec?.ingress ?? []).map(({ from, ports }) => ({ peers: from, ports }))
        : (spec?.egress ?? []).map(({ to, ports }) => ({ peers: to, ports }))
    return rules.map((rule) => ({
      policy: `${namespace}/${metadata.name}`,
      peers: rule.peers?.length ? search.find(namespace, rule.peers) : undefined,
      ...portsOf(rule, direction, pod),
    }))
  })
}

/** True if the policy isolates the pod in the direction. */
export function selects({ metadata, spec }: NetworkPolicy, pod: PolicyPod, direction: Direction): boolean {
  if (metadata.namespace !== pod.namespace || !spec) return false
  const types = spec.policyTypes ?? (spec.egress?.length ? ['Ingress', 'Egress'] : ['Ingress'])
  return types.includes(direction) && labelSelectorOf(spec.podSelector ?? {}).matches(pod.labels)
}

function portsOf({ ports }: Rule, direction: Direction, pod: PolicyPod): Pick<AllowRule, 'ports' | 'names'> {
  if (!ports?.length) return { ports: undefined, names: [] }
  const ranges: PortRange[] = []
  const names: PortName[] = []
  for (const { protocol = 'TCP', port, endPort } of ports)
    if (port === undefined) ranges.push({ protocol, first: 1, last: maxPort })
    else if (typeof port === 'number') ranges.push({ protocol, first: port, last: endPort ?? port })
    else if (direction === 'Egress') names.push({ protocol, name: port })
    else
      for (const own of pod.ports)
        if (own.name === port && own.protocol === protocol) ranges.push({ protocol, first: own.port, last: own.port })
  return { ports: ranges, names }
}
