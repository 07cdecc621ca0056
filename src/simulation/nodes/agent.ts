/** A simulated node while it runs: what its kubelet would know. It writes nothing; `NodeKeeper` does. */
import type { Node } from '../../client/kinds.ts'
import type { Cidr } from '../../lib/cidr.ts'
import { failureAnnotation } from '../names.ts'
import { type Failure, isFailure } from './conditions.ts'
import { internalAddress } from './node-object.ts'
import { PodAddresses, rangesOf } from './pod-addresses.ts'
import { Room } from './room.ts'

export class NodeAgent {
  readonly name: string
  /** The node's own address. */
  readonly address: string
  readonly room = new Room()
  #node: Node
  #addresses: readonly PodAddresses[] = []
  #ranges = ''
  /** Whether stages write its status. */
  isStaged = false
  /** Whether it was made to fail until now: then it tells once itself that all is well again. */
  hasRecovered = false
  /** Who wrote its lease last, and when that was seen. */
  lease: { readonly resourceVersion: string | undefined } | undefined

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

  /** Whether pods have addresses to get. */
  get hasNetwork(): boolean {
    return this.#addresses.length > 0
  }

  /** Whether its kubelet and its container runtime work. */
  get isWorking(): boolean {
    const { failure } = this
    return failure !== 'gone' && failure !== 'not-ready'
  }

  update(node: Node): void {
    this.#node = node
    this.room.allocatable = node.status?.allocatable ?? {}
    const { podCIDRs, podCIDR } = node.spec ?? {}
    const given = podCIDRs ?? (podCIDR ? [podCIDR] : [])
    if (given.length > 0) this.setRanges(rangesOf(given), given.join())
  }

  /** The ranges that addresses of pods are taken from; `key` tells them apart. */
  setRanges(ranges: readonly Cidr[], key: string): void {
    if (this.#ranges === key) return
    this.#ranges = key
    this.#addresses = ranges.map((range) => new PodAddresses(range))
  }

  /** Addresses for a pod, one of each range; none when a range is used up. */
  takeAddresses(uid: string): readonly string[] {
    const taken = this.#addresses.flatMap((addresses) => addresses.take(uid) ?? [])
    // A copy has no room for more, which would be most of it.
    if (taken.length === this.#addresses.length) return [...taken]
    this.giveBackAddresses(taken, uid)
    return []
  }

  noteAddresses(addresses: readonly string[], uid: string): void {
    for (const range of this.#addresses) for (const address of addresses) range.note(address, uid)
  }

  giveBackAddresses(addresses: readonly string[], uid: string): void {
    for (const range of this.#addresses) for (const address of addresses) range.giveBack(address, uid)
  }
}
