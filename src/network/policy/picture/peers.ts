/** The other ends of connections that rules of a policy allow: pods by labels, and ranges of addresses. */
import type { NetworkPolicy } from '../../../client/kinds.ts'
import { labelSelectorOf } from '../../../machinery/selectors/label-selector.ts'
import type { AddressBlock } from '../../netlink/nftables/address-intervals.ts'
import type { PolicyObjects, PolicyPod } from './policy-objects.ts'

type Spec = NonNullable<NetworkPolicy['spec']>
/** A peer of a rule; those of both directions have the same form. */
export type Peer = NonNullable<NonNullable<Spec['ingress']>[number]['from']>[number]

export interface Peers {
  /** Equal for equal peers: rules of several pods share the addresses. */
  readonly key: string
  readonly pods: readonly PolicyPod[]
  readonly blocks: readonly AddressBlock[]
}

/** Finds peers; those that were found once are not searched again, so make one for each picture. */
export class PeerSearch {
  readonly #objects: PolicyObjects
  readonly #found = new Map<string, Peers>()

  constructor(objects: PolicyObjects) {
    this.#objects = objects
  }

  /** `namespace` is that of the policy. */
  find(namespace: string, peers: readonly Peer[]): Peers {
    const selectors = peers.filter(({ ipBlock }) => !ipBlock)
    const isLocal = selectors.some(({ namespaceSelector }) => !namespaceSelector)
    const key = JSON.stringify([isLocal ? namespace : '', selectors])
    const known = this.#found.get(key)?.pods
    const found = {
      key,
      pods: known ?? this.#pods(namespace, selectors),
      blocks: peers.flatMap(({ ipBlock }) => (ipBlock ? [{ range: ipBlock.cidr, except: ipBlock.except ?? [] }] : [])),
    }
    if (!known) this.#found.set(key, found)
    return found
  }

  #pods(namespace: string, peers: readonly Peer[]): PolicyPod[] {
    const matchers = peers.map(({ podSelector, namespaceSelector }) => {
      const isPod = labelSelectorOf(podSelector ?? {})
      const isNamespace = namespaceSelector && labelSelectorOf(namespaceSelector)
      return (pod: PolicyPod): boolean => {
        if (!isPod.matches(pod.labels)) return false
        if (!isNamespace) return pod.namespace === namespace
        const labels = this.#objects.labelsOf(pod.namespace)
        return labels !== undefined && isNamespace.matches(labels)
      }
    })
    return [...this.#objects.pods].filter((pod) => matchers.some((matches) => matches(pod)))
  }
}
