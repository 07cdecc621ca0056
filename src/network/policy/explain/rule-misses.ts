/** The reasons why rules of policies do not match a connection, in plain words. */
import { rangeHas } from '../../../lib/cidr.ts'
import {
  type LabelSelector,
  type Labels,
  labelSelectorOf,
  labelSelectorText,
  labelsText,
} from '../../../machinery/selectors/label-selector.ts'
import type { Peer, RulePorts } from '../picture/compiled-policy.ts'
import type { PolicyObjects, PolicyPod } from '../picture/policy-objects.ts'

export interface AskedConnection {
  readonly from: PolicyPod
  readonly to: PolicyPod
  readonly port: number
  /** `TCP`, `UDP` or `SCTP`. */
  readonly protocol: string
}

/** None: everybody. */
export interface RulePeers {
  readonly peers: readonly Peer[] | undefined
  readonly nodes?: readonly LabelSelector[]
}

/** Why the ports of a rule do not fit; undefined if they do. Names are those of the destination. */
export function portMiss(ports: RulePorts, { to, port, protocol }: AskedConnection): string | undefined {
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

/** Why the peers of a rule do not fit; undefined if they do. `namespace` is that of the policy. */
export function peerMiss(
  objects: PolicyObjects,
  namespace: string,
  { peers, nodes }: RulePeers,
  other: PolicyPod,
): string | undefined {
  if (!peers?.length && !nodes?.length) return undefined
  const misses = [
    ...(peers ?? []).map((peer) => missOf(objects, namespace, peer, other)),
    ...(nodes?.length ? [`nodes are meant, and ${other.namespace}/${other.name} is a pod`] : []),
  ]
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
