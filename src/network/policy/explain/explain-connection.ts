/** Explains whether policies allow a connection between two pods: which select a pod, and what their rules miss. */
import type { NetworkPolicy } from '../../../client/kinds.ts'
import { rangeHas } from '../../../lib/cidr.ts'
import {
  type Labels,
  labelSelectorOf,
  labelSelectorText,
  labelsText,
} from '../../../machinery/selectors/label-selector.ts'
import { compiledPolicy, type Direction, type Peer } from '../picture/compiled-policy.ts'
import type { PolicyObjects, PolicyPod } from '../picture/policy-objects.ts'

export interface AskedConnection {
  readonly from: PolicyPod
  readonly to: PolicyPod
  readonly port: number
  /** `TCP`, `UDP` or `SCTP`. */
  readonly protocol: string
}

/** A policy that selects the pod, and the reasons why each of its rules does not fit; empty if one does. */
export interface PolicyVerdict {
  /** `NAMESPACE/NAME`. */
  readonly policy: string
  readonly isAllowed: boolean
  readonly misses: readonly string[]
}

export interface DirectionVerdict {
  readonly direction: Direction
  readonly isAllowed: boolean
  /** Those that select the pod. None: everything is allowed. */
  readonly policies: readonly PolicyVerdict[]
}

export interface ConnectionVerdict {
  readonly isAllowed: boolean
  readonly egress: DirectionVerdict
  readonly ingress: DirectionVerdict
}

/** Both directions must allow a connection. A pod always reaches itself. */
export function explainConnection(objects: PolicyObjects, asked: AskedConnection): ConnectionVerdict {
  const egress = verdictFor(objects, asked, 'Egress')
  const ingress = verdictFor(objects, asked, 'Ingress')
  return { isAllowed: asked.from === asked.to || (egress.isAllowed && ingress.isAllowed), egress, ingress }
}

function verdictFor(objects: PolicyObjects, asked: AskedConnection, direction: Direction): DirectionVerdict {
  const own = direction === 'Egress' ? asked.from : asked.to
  const labels = objects.labelsOf(own.namespace)
  const selecting = [...objects.policies].filter((policy) => {
    const { rules, subject } = compiledPolicy(policy)
    return rules[direction] !== undefined && subject.matches(own, labels)
  })
  const policies = selecting.map((policy) => policyVerdict(objects, policy, asked, direction))
  return { direction, isAllowed: policies.length === 0 || policies.some(({ isAllowed }) => isAllowed), policies }
}

function policyVerdict(
  objects: PolicyObjects,
  { metadata, spec }: NetworkPolicy,
  asked: AskedConnection,
  direction: Direction,
): PolicyVerdict {
  const namespace = metadata.namespace ?? ''
  const rules =
    direction === 'Egress'
      ? (spec?.egress ?? []).map(({ to, ports }) => ({ peers: to, ports }))
      : (spec?.ingress ?? []).map(({ from, ports }) => ({ peers: from, ports }))
  const other = direction === 'Egress' ? asked.to : asked.from
  const misses: string[] = []
  for (const { peers, ports } of rules) {
    const miss = portMiss(ports, asked) ?? peerMiss(objects, namespace, peers, other)
    if (miss === undefined) return { policy: `${namespace}/${metadata.name}`, isAllowed: true, misses: [] }
    misses.push(miss)
  }
  const none = rules.length === 0 ? [`it has no rules for ${direction.toLowerCase()}`] : []
  return { policy: `${namespace}/${metadata.name}`, isAllowed: false, misses: [...none, ...misses] }
}

type RulePorts = NonNullable<NonNullable<NetworkPolicy['spec']>['ingress']>[number]['ports']

/** Why the ports of a rule do not fit; undefined if they do. Names are those of the destination. */
function portMiss(ports: RulePorts, { to, port, protocol }: AskedConnection): string | undefined {
  if (!ports?.length) return undefined
  const texts: string[] = []
  for (const { protocol: wanted = 'TCP', port: number, endPort } of ports) {
    const named =
      typeof number === 'string' ? to.ports.find((one) => one.name === number && one.protocol === wanted) : undefined
    const first = typeof number === 'string' ? named?.port : number
    if (
      wanted === protocol &&
      (number === undefined || (first !== undefined && port >= first && port <= (endPort ?? first)))
    )
      return undefined
    const text = number === undefined ? wanted : `${wanted} ${number}${endPort === undefined ? '' : `-${endPort}`}`
    texts.push(
      typeof number === 'string' ? `${text} (${named ? named.port : 'the pod has no port of this name'})` : text,
    )
  }
  return `a rule allows the ports ${texts.join(', ')}`
}

function peerMiss(
  objects: PolicyObjects,
  namespace: string,
  peers: readonly Peer[] | undefined,
  other: PolicyPod,
): string | undefined {
  if (!peers?.length) return undefined
  const misses = peers.map((peer) => missOf(objects, namespace, peer, other))
  return misses.includes(undefined) ? undefined : misses.join('; ')
}

function missOf(objects: PolicyObjects, namespace: string, peer: Peer, other: PolicyPod): string | undefined {
  const { podSelector, namespaceSelector, ipBlock } = peer
  const name = `${other.namespace}/${other.name}`
  if (ipBlock) {
    const hole = (ipBlock.except ?? []).find((range) => other.addresses.some((address) => rangeHas(range, address)))
    if (!other.addresses.some((address) => rangeHas(ipBlock.cidr, address)))
      return `${other.addresses.join(', ') || name} is not in ${ipBlock.cidr}`
    return hole === undefined ? undefined : `${hole} is excepted from ${ipBlock.cidr}`
  }
  if (!namespaceSelector && other.namespace !== namespace)
    return `pods of the namespace ${namespace} are meant, and ${name} is in ${other.namespace}`
  const labels: Labels | undefined = objects.labelsOf(other.namespace)
  if (namespaceSelector && !labelSelectorOf(namespaceSelector).matches(labels))
    return (
      `the namespace ${other.namespace} has the labels ${labelsText(labels)}, ` +
      `not ${labelSelectorText(namespaceSelector)}`
    )
  if (podSelector && !labelSelectorOf(podSelector).matches(other.labels))
    return `the pod ${name} has the labels ${labelsText(other.labels)}, not ${labelSelectorText(podSelector)}`
  return undefined
}
