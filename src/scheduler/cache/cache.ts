/**
 * What the scheduler knows of nodes and of the pods that have one. Pods that it has just placed are assumed to be
 * there, until the API says so, or they are forgotten because they could not be bound.
 */
import type { Node, Pod } from '../../client/kinds.ts'
import { NodeInfo } from '../framework/node-info.ts'
import { PodInfo } from '../framework/pods/pod-info.ts'
import type { Snapshot } from '../framework/snapshot.ts'
import { ImageStates } from './image-states.ts'
import { inTurns, zoneOf } from './node-order.ts'

interface KnownPod {
  pod: PodInfo
  node: string
  /** Placed by us, and not seen in the API yet. */
  isAssumed: boolean
  /** When an assumed pod that was bound is not believed in any longer, in ms; never, unless set. */
  expires?: number
}

export interface CacheOptions {
  /**
   * How long a pod that was bound is assumed to be there while the API does not tell of it, in ms. 0 is for ever,
   * upstream's default.
   */
  readonly assumedMs?: number
  readonly now?: () => number
}

export class SchedulerCache implements Snapshot {
  readonly nodesWithAffinity = new Set<NodeInfo>()
  readonly nodesWithRequiredAntiAffinity = new Set<NodeInfo>()
  readonly #nodes = new Map<string, NodeInfo>()
  /** By uid. */
  readonly #pods = new Map<string, KnownPod>()
  /** Pods whose node is not known (yet, or any longer), by its name. */
  readonly #waiting = new Map<string, Set<PodInfo>>()
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
    return (this.#order ??= inTurns(this.#nodes.values()))
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
    for (const pod of this.#waiting.get(name) ?? []) info.addPod(pod)
    this.#waiting.delete(name)
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
    // Its pods are told of one by one; the node may come back before.
    if (info.pods.length > 0) this.#waiting.set(name, new Set(info.pods))
  }

  /** The API tells of a pod that has a node: a new one, a changed one, or one that was assumed. */
  setPod(pod: Pod): void {
    const info = new PodInfo(pod)
    const node = pod.spec?.nodeName ?? ''
    const known = this.#pods.get(info.uid)
    if (known) this.#leave(known)
    this.#assumed.delete(info.uid)
    this.#enter({ pod: info, node, isAssumed: false })
  }

  removePod({ metadata: { uid = '' } }: Pod): void {
    const known = this.#pods.get(uid)
    if (!known) return
    this.#leave(known)
    this.#pods.delete(uid)
    this.#assumed.delete(uid)
  }

  /** The pod is taken to be on this node from now on. Throws an Error for one that has a node already. */
  assume(pod: PodInfo, node: string): void {
    if (this.#pods.has(pod.uid)) throw new Error(`pod ${pod.key} has a node already`)
    this.#assumed.add(pod.uid)
    this.#enter({ pod, node, isAssumed: true })
  }

  /** The assumed pod was bound: the API will tell of it soon. */
  finishBinding({ uid }: PodInfo): void {
    const known = this.#pods.get(uid)
    if (known?.isAssumed && this.#assumedMs > 0) known.expires = this.#now() + this.#assumedMs
  }

  /** The assumed pod was not bound. */
  forget({ uid }: PodInfo): void {
    const known = this.#pods.get(uid)
    if (!known?.isAssumed) return
    this.#leave(known)
    this.#pods.delete(uid)
    this.#assumed.delete(uid)
  }

  /** Where the pod of this uid is, or is taken to be. */
  nodeOf(uid: string): string | undefined {
    return this.#pods.get(uid)?.node
  }

  isAssumed(uid: string): boolean {
    return this.#assumed.has(uid)
  }

  /** Forgets pods that were bound long ago and that the API never told of; gives them. */
  expire(): readonly PodInfo[] {
    const now = this.#now()
    const expired = [...this.#assumed]
      .map((uid) => this.#pods.get(uid)!)
      .filter(({ expires }) => expires !== undefined && expires <= now)
    for (const { pod } of expired) this.forget(pod)
    return expired.map(({ pod }) => pod)
  }

  #enter(known: KnownPod): void {
    const { pod, node } = known
    this.#pods.set(pod.uid, known)
    for (const claim of pod.claims) this.#claimUsers.set(claim, (this.#claimUsers.get(claim) ?? 0) + 1)
    const info = this.#nodes.get(node)
    if (info) {
      info.addPod(pod)
      if (pod.hasAffinity) this.#index(info)
      return
    }
    const waiting = this.#waiting.get(node)
    if (waiting) waiting.add(pod)
    else this.#waiting.set(node, new Set([pod]))
  }

  #leave({ pod, node }: KnownPod): void {
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
    const waiting = this.#waiting.get(node)
    waiting?.delete(pod)
    if (waiting?.size === 0) this.#waiting.delete(node)
  }

  /** Notes whether the node has pods with affinity. */
  #index(info: NodeInfo): void {
    if (info.podsWithAffinity.length > 0) this.nodesWithAffinity.add(info)
    else this.nodesWithAffinity.delete(info)
    if (info.podsWithRequiredAntiAffinity.length > 0) this.nodesWithRequiredAntiAffinity.add(info)
    else this.nodesWithRequiredAntiAffinity.delete(info)
  }
}
