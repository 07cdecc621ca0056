/** Pods by selector. A change of a pod or namespace is compared with the selectors once, and found in its groups. */
import { isIP } from 'node:net'
import { rangeHas } from '../../../lib/cidr.ts'
import type { AddressBlock } from '../../netlink/nftables/address-intervals.ts'
import type { PodSelector, PortName } from '../picture/compiled-policy.ts'
import type { PolicyObjects, PolicyPod } from '../picture/policy-objects.ts'

/** Selects the pods of all namespaces. */
export const everyPod: PodSelector = { key: '*', matches: () => true }

interface Group {
  readonly selector: PodSelector
  readonly members: Map<string, PolicyPod>
  /** Changes with the members. */
  version: number
}

/** Destinations by the names of their ports. */
export interface NamedDestinations {
  readonly names: readonly PortName[]
  /** Undefined: no pods. */
  readonly pods: PodSelector | undefined
  /** Pods in these ranges, too. */
  readonly blocks: readonly AddressBlock[]
}

export class PodGroups {
  readonly #objects: PolicyObjects
  readonly #groups = new Map<string, Group>()
  /** Groups that come back have another version. */
  #lastVersion = 0

  constructor(objects: PolicyObjects) {
    this.#objects = objects
  }

  /** A number that changes when the pods of the selector change. */
  versionOf(selector: PodSelector): number {
    return this.#group(selector).version
  }

  addressesOf(selector: PodSelector, family: 4 | 6): ReadonlySet<string> {
    const found = new Set<string>()
    for (const { addresses } of this.#group(selector).members.values())
      for (const address of addresses) if (isIP(address) === family) found.add(address)
    return found
  }

  /** Returns elements `ADDRESS . PROTOCOL . PORT`. */
  destinationsOf({ names, pods, blocks }: NamedDestinations, family: 4 | 6): ReadonlySet<string> {
    const found = new Set<string>()
    const add = (pod: PolicyPod, hasAddress: (address: string) => boolean): void => {
      for (const { name, protocol, port } of pod.ports)
        if (names.some((wanted) => wanted.name === name && wanted.protocol === protocol))
          for (const address of pod.addresses)
            if (isIP(address) === family && hasAddress(address))
              found.add(`${address} . ${protocol.toLowerCase()} . ${port}`)
    }
    if (pods) for (const pod of this.#group(pods).members.values()) add(pod, () => true)
    if (blocks.length > 0)
      for (const pod of this.#group(everyPod).members.values())
        add(pod, (address) => blocks.some((block) => isInBlock(block, address)))
    return found
  }

  /** Moves a pod that has changed between groups. */
  updatePod(key: string): void {
    const pod = this.#objects.pod(key)
    const labels = pod && this.#objects.labelsOf(pod.namespace)
    for (const group of this.#groups.values()) {
      const isMember = pod !== undefined && group.selector.matches(pod, labels)
      const before = group.members.get(key)
      if (isMember) group.members.set(key, pod)
      else group.members.delete(key)
      if (before || isMember) group.version = ++this.#lastVersion
    }
  }

  /** Forgets groups of other selectors than these. */
  retain(selectors: ReadonlySet<string>): void {
    for (const key of this.#groups.keys()) if (!selectors.has(key) && key !== everyPod.key) this.#groups.delete(key)
  }

  #group(selector: PodSelector): Group {
    const known = this.#groups.get(selector.key)
    if (known) return known
    const members = new Map<string, PolicyPod>()
    for (const [key, pod] of this.#objects.podsByKey)
      if (selector.matches(pod, this.#objects.labelsOf(pod.namespace))) members.set(key, pod)
    const group: Group = { selector, members, version: ++this.#lastVersion }
    this.#groups.set(selector.key, group)
    return group
  }
}

const isInBlock = ({ range, except }: AddressBlock, address: string): boolean =>
  rangeHas(range, address) && !except.some((hole) => rangeHas(hole, address))
