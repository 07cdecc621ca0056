/** Turns changes of Nodes into events of leases. */
import { isDeepStrictEqual } from 'node:util'
import type { Node } from '../../../../client/kinds.ts'
import { messageOf } from '../../../../lib/message-of.ts'
import type { NetworkConfig } from '../../config/network-config.ts'
import { type Lease, type LeaseEvent, leaseKey } from '../subnet-manager.ts'
import type { AnnotationNames } from './annotations.ts'
import { isManaged, nodeLease } from './node-lease.ts'

export interface NodeLeasesOptions {
  readonly names: AnnotationNames
  readonly config: NetworkConfig
  readonly log: (line: string) => void
}

export class NodeLeases {
  readonly #options: NodeLeasesOptions
  readonly #byNode = new Map<string, Lease>()
  /** Reasons that were logged, by node. */
  readonly #faults = new Map<string, string>()

  constructor(options: NodeLeasesOptions) {
    this.#options = options
  }

  get all(): readonly Lease[] {
    return [...this.#byNode.values()]
  }

  /** Returns the events of a node that was added, changed, or with `node` undefined, deleted. */
  set(name: string, node: Node | undefined): LeaseEvent[] {
    const old = this.#byNode.get(name)
    const lease = node && this.#leaseOf(name, node)
    if (lease) this.#byNode.set(name, lease)
    else this.#byNode.delete(name)
    if (isDeepStrictEqual(old, lease)) return []
    const events: LeaseEvent[] = []
    if (old && (!lease || leaseKey(old) !== leaseKey(lease))) events.push(this.#endOf(old))
    if (lease) {
      this.#logSameSubnet(lease)
      events.push({ type: 'added', lease })
    }
    return events
  }

  /** A subnet that a second node has remains, with that node. */
  #endOf(old: Lease): LeaseEvent {
    const heir = this.#holderOf(old)
    return heir ? { type: 'added', lease: heir } : { type: 'removed', lease: old }
  }

  #holderOf(lease: Lease): Lease | undefined {
    const key = leaseKey(lease)
    return this.all.find((other) => other.node !== lease.node && leaseKey(other) === key)
  }

  #logSameSubnet(lease: Lease): void {
    const other = this.#holderOf(lease)
    if (!other) return
    this.#options.log(
      `the nodes ${other.node} and ${lease.node} have the same subnet ${lease.subnet ?? lease.ipv6Subnet}: delete ` +
        'the Node that is wrong, so that it gets another podCIDR',
    )
  }

  #leaseOf(name: string, node: Node): Lease | undefined {
    const { names, config, log } = this.#options
    if (!isManaged(node, names)) return undefined
    try {
      const lease = nodeLease(node, names, config)
      this.#faults.delete(name)
      return lease
    } catch (error) {
      const fault = messageOf(error)
      if (this.#faults.get(name) !== fault) log(`Error turning node "${name}" to lease: ${fault}`)
      this.#faults.set(name, fault)
      return undefined
    }
  }
}
