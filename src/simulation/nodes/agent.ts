/** The state of a simulated node's kubelet. It writes nothing; `NodeRunner` does. */
import type { Node } from '../../client/kinds.ts'
import type { Cidr } from '../../lib/cidr.ts'
import type { KnownLease } from '../../node/status/lease.ts'
import { failureAnnotation } from '../names.ts'
import { type Failure, isFailure } from './failures.ts'
import { internalAddress } from './node-object.ts'
import { NodeResources } from './node-resources.ts'
import { PodAddresses, rangesOf } from './pod-addresses.ts'

export class NodeAgent {
  readonly name: string
  /** The node's own address. */
  readonly address: string
  readonly resources = new NodeResources()
  #node: Node
  #addresses: readonly PodAddresses[] = []
  #ranges = ''
  /** True if stages write its status. */
  isStaged = false
  /** True after a failure has ended: the kubelet then reports healthy conditions once, even with stages. */
  hasRecovered = false
  /** The resource version of its lease as last written or read. */
  lease: KnownLease | undefined

  constructor(node: Node) {
    this.#node = node
    this.name = node.metadata.name ?? ''
    this.address = internalAddress(this.name)
    this.update(node)
  }

  get node(): Node {
    return this.#node
  }

  get failure(): Failure | undefined {
    const value = this.#node.metadata.annotations?.[failureAnnotation]
    return isFailure(value) ? value : undefined
  }

  /** True if pods can get addresses. */
  get hasNetwork(): boolean {
    return this.#addresses.length > 0
  }

  /** True if its kubelet and container runtime work. */
  get isWorking(): boolean {
    const { failure } = this
    return failure !== 'gone' && failure !== 'not-ready'
  }

  update(node: Node): void {
    this.#node = node
    this.resources.allocatable = node.status?.allocatable ?? {}
    const { podCIDRs, podCIDR } = node.spec ?? {}
    const given = podCIDRs ?? (podCIDR ? [podCIDR] : [])
    if (given.length > 0) this.setRanges(rangesOf(given), given.join())
  }

  /** Sets the ranges for pod addresses; `key` identifies them. */
  setRanges(ranges: readonly Cidr[], key: string): void {
    if (this.#ranges === key) return
    this.#ranges = key
    this.#addresses = ranges.map((range) => new PodAddresses(range))
  }

  /** Allocates addresses for a pod, one of each range; none if a range is exhausted. */
  takeAddresses(uid: string): readonly string[] {
    const taken = this.#addresses.flatMap((addresses) => addresses.take(uid) ?? [])
    // A copy without spare capacity, which would take most of the memory.
    if (taken.length === this.#addresses.length) return [...taken]
    this.releaseAddresses(taken, uid)
    return []
  }

  markAddressesUsed(addresses: readonly string[], uid: string): void {
    for (const range of this.#addresses) for (const address of addresses) range.markUsed(address, uid)
  }

  releaseAddresses(addresses: readonly string[], uid: string): void {
    for (const range of this.#addresses) for (const address of addresses) range.release(address, uid)
  }
}
