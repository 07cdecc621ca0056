/**
 * The nodes and the pods on them, in memory. Pods that were just scheduled are assumed to be on their node until the
 * API delivers them, or until the binding fails.
 */
import type { Node, Pod } from '../../client/kinds.ts'
import { NodeInfo } from '../framework/node-info.ts'
import { PodInfo } from '../framework/pods/pod-info.ts'
import type { Snapshot } from '../framework/snapshot.ts'
import { ImageStates } from './image-states.ts'
import { interleaveZones, zoneOf } from './node-order.ts'

interface KnownPod {
  pod: PodInfo
  node: string
  /** Scheduled by us, and not delivered by the API yet. */
  isAssumed: boolean
  /** When an assumed, bound pod expires, in ms. Default: never. */
  expires?: number
}

export interface CacheOptions {
  /** How long a bound pod is assumed if the API does not deliver it, in ms. Default: 0, permanently (as upstream). */
  readonly assumedMs?: number
  readonly now?: () => number
}

export class SchedulerCache implements Snapshot {
  readonly nodesWithAffinity = new Set<NodeInfo>()
  readonly nodesWithRequiredAntiAffinity = new Set<NodeInfo>()
  readonly #nodes = new Map<string, NodeInfo>()
  /** By uid. */
  readonly #pods = new Map<string, KnownPod>()
  /** Pods whose node is unknown (not yet added, or deleted), by node name. */
  readonly #podsOfUnknownNodes = new Map<string, Set<PodInfo>>()
  readonly #assumed = new Set<string>()
  readonly #claimUsers = new Map<string, number>()
  readonly #images = new ImageStates()
  readonly #assumedMs: number
  readonly #now: () => number
  #order: NodeInfo[] | undefined

  constructor({ assumedMs = 0, now = Date.now }: CacheOptions = {}) {
    this.#assumedMs = assumedMs
    this.#now = now
  }

  get nodes(): readonly NodeInfo[] {
    return (this.#order ??= interleaveZones(this.#nodes.values()))
  }

  get podCount(): number {
    return this.#pods.size
  }

  get assumedCount(): number {
    return this.#assumed.size
  }

  node(name: string): NodeInfo | undefined {
    return this.#nodes.get(name)
  }

  isClaimUsed(key: string): boolean {
    return this.#claimUsers.has(key)
  }

  setNode(node: Node): void {
    const name = node.metadata.name ?? ''
    const known = this.#nodes.get(name)
    if (known) {
      const zone = zoneOf(known)
      const { images } = known.node.status ?? {}
      known.setNode(node)
      if (zoneOf(known) !== zone) this.#order = undefined
      if (images !== node.status?.images) known.setImages(this.#images.set(name, node))
      return
    }
    const info = new NodeInfo(node)
    info.setImages(this.#images.set(name, node))
    this.#nodes.set(name, info)
    this.#order = undefined
    for (const pod of this.#podsOfUnknownNodes.get(name) ?? []) info.addPod(pod)
    this.#podsOfUnknownNodes.delete(name)
    this.#index(info)
  }

  removeNode(name: string): void {
    const info = this.#nodes.get(name)
    if (!info) return
    this.#nodes.delete(name)
    this.#images.delete(name)
    this.#order = undefined
    this.nodesWithAffinity.delete(info)
    this.nodesWithRequiredAntiAffinity.delete(info)
    // Its pods are deleted one by one; the node may be added before that.
    if (info.pods.length > 0) this.#podsOfUnknownNodes.set(name, new Set(info.pods))
  }

  /** Stores a pod with a node from the API: new, changed, or assumed before. */
  setPod(pod: Pod): void {
    const info = new PodInfo(pod)
    const node = pod.spec?.nodeName ?? ''
    const known = this.#pods.get(info.uid)
    if (known) this.#removeFromNode(known)
    this.#assumed.delete(info.uid)
    this.#addToNode({ pod: info, node, isAssumed: false })
  }

  removePod({ metadata: { uid = '' } }: Pod): void {
    const known = this.#pods.get(uid)
    if (!known) return
    this.#removeFromNode(known)
    this.#pods.delete(uid)
    this.#assumed.delete(uid)
  }

  /** Assumes that the pod is on the node. Throws an Error if it has a node already. */
  assume(pod: PodInfo, node: string): void {
    if (this.#pods.has(pod.uid)) throw new Error(`pod ${pod.key} has a node already`)
    this.#assumed.add(pod.uid)
    this.#addToNode({ pod, node, isAssumed: true })
  }

  /** Marks an assumed pod as bound, so that it can expire. */
  finishBinding({ uid }: PodInfo): void {
    const known = this.#pods.get(uid)
    if (known?.isAssumed && this.#assumedMs > 0) known.expires = this.#now() + this.#assumedMs
  }

  /** Removes an assumed pod whose binding failed. */
  forget({ uid }: PodInfo): void {
    const known = this.#pods.get(uid)
    if (!known?.isAssumed) return
    this.#removeFromNode(known)
    this.#pods.delete(uid)
    this.#assumed.delete(uid)
  }

  /** The node of a pod, also an assumed one. */
  nodeOf(uid: string): string | undefined {
    return this.#pods.get(uid)?.node
  }

  isAssumed(uid: string): boolean {
    return this.#assumed.has(uid)
  }

  /** Removes bound pods that the API has not delivered in time, and returns them. */
  expire(): readonly PodInfo[] {
    const now = this.#now()
    const expired = [...this.#assumed]
      .map((uid) => this.#pods.get(uid)!)
      .filter(({ expires }) => expires !== undefined && expires <= now)
    for (const { pod } of expired) this.forget(pod)
    return expired.map(({ pod }) => pod)
  }

  #addToNode(known: KnownPod): void {
    const { pod, node } = known
    this.#pods.set(pod.uid, known)
    for (const claim of pod.claims) this.#claimUsers.set(claim, (this.#claimUsers.get(claim) ?? 0) + 1)
    const info = this.#nodes.get(node)
    if (info) {
      info.addPod(pod)
      if (pod.hasAffinity) this.#index(info)
      return
    }
    const waiting = this.#podsOfUnknownNodes.get(node)
    if (waiting) waiting.add(pod)
    else this.#podsOfUnknownNodes.set(node, new Set([pod]))
  }

  #removeFromNode({ pod, node }: KnownPod): void {
    for (const claim of pod.claims) {
      const users = (this.#claimUsers.get(claim) ?? 0) - 1
      if (users > 0) this.#claimUsers.set(claim, users)
      else this.#claimUsers.delete(claim)
    }
    const info = this.#nodes.get(node)
    if (info) {
      info.removePod(pod)
      if (pod.hasAffinity) this.#index(info)
      return
    }
    const waiting = this.#podsOfUnknownNodes.get(node)
    waiting?.delete(pod)
    if (waiting?.size === 0) this.#podsOfUnknownNodes.delete(node)
  }

  /** Updates the sets of nodes that have pods with affinity. */
  #index(info: NodeInfo): void {
    if (info.podsWithAffinity.length > 0) this.nodesWithAffinity.add(info)
    else this.nodesWithAffinity.delete(info)
    if (info.podsWithRequiredAntiAffinity.length > 0) this.nodesWithRequiredAntiAffinity.add(info)
    else this.nodesWithRequiredAntiAffinity.delete(info)
  }
}
