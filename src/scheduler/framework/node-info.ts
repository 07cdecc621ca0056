/** A node with its pods and the sums of their requests, updated pod by pod. */
import type { Node } from '../../client/kinds.ts'
import type { Labels } from '../../machinery/selectors/label-selector.ts'
import { type HostPort, portsClash } from './pods/host-ports.ts'
import type { PodInfo } from './pods/pod-info.ts'
import { add, copyOf, noResources, type Resources, resourcesOf } from './resources.ts'

/** A taint of a node. */
export type Taint = NonNullable<NonNullable<Node['spec']>['taints']>[number]

/** An image that some nodes have. */
export interface ImageState {
  readonly sizeBytes: number
  /** The number of nodes that have it; changes with them. */
  readonly nodes: number
}

const noLabels: Labels = {}
const noTaints: readonly Taint[] = []
const noImages: ReadonlyMap<string, ImageState> = new Map()
let generations = 0

/** Plug-ins read it. Only the cache, and preemption on its own copies, change it through the methods. */
export class NodeInfo {
  readonly name: string
  node: Node
  labels: Labels = noLabels
  taints: readonly Taint[] = noTaints
  allocatable: Resources = noResources()
  /** Images by all of their names; set by the cache. */
  images: ReadonlyMap<string, ImageState> = noImages
  /** Changes with every change of the node, so that derived values can be cached by it. */
  generation = ++generations
  readonly pods: PodInfo[] = []
  /** Those with pod affinity or anti-affinity, required or preferred. */
  readonly podsWithAffinity: PodInfo[] = []
  readonly podsWithRequiredAntiAffinity: PodInfo[] = []
  /** The sum of the requests of its pods. */
  requested: Resources = noResources()
  /** The same for scores: containers without requests count with a default. */
  readonly nonZeroRequested = { milliCPU: 0, memory: 0 }
  readonly usedPorts: HostPort[] = []
  /** The number of its pods that use a claim, by `namespace/name`. */
  readonly claimUsers = new Map<string, number>()

  constructor(node: Node) {
    this.name = node.metadata.name ?? ''
    this.node = node
    this.setNode(node)
  }

  setNode(node: Node): void {
    this.node = node
    this.labels = node.metadata.labels ?? noLabels
    this.taints = node.spec?.taints ?? noTaints
    this.allocatable = resourcesOf(node.status?.allocatable)
    this.generation = ++generations
  }

  setImages(images: ReadonlyMap<string, ImageState>): void {
    this.images = images
    this.generation = ++generations
  }

  addPod(pod: PodInfo): void {
    this.pods.push(pod)
    if (pod.hasAffinity) this.podsWithAffinity.push(pod)
    if (pod.requiredAntiAffinity.length > 0) this.podsWithRequiredAntiAffinity.push(pod)
    for (const port of pod.hostPorts) this.usedPorts.push(port)
    for (const claim of pod.claims) this.claimUsers.set(claim, (this.claimUsers.get(claim) ?? 0) + 1)
    this.#count(pod, 1)
  }

  /** Removes the pod of this uid; false if there is none. */
  removePod({ uid }: { readonly uid: string }): boolean {
    const at = this.pods.findLastIndex((pod) => pod.uid === uid)
    const pod = this.pods[at]
    if (!pod) return false
    this.pods.splice(at, 1)
    remove(this.podsWithAffinity, pod)
    remove(this.podsWithRequiredAntiAffinity, pod)
    for (const port of pod.hostPorts) remove(this.usedPorts, port)
    for (const claim of pod.claims) {
      const users = (this.claimUsers.get(claim) ?? 0) - 1
      if (users > 0) this.claimUsers.set(claim, users)
      else this.claimUsers.delete(claim)
    }
    this.#count(pod, -1)
    return true
  }

  /** Returns true if one of its pods uses one of these ports. */
  usesPort(wanted: readonly HostPort[]): boolean {
    return portsClash(wanted, this.usedPorts)
  }

  /** A copy whose pods can be changed. */
  copy(): NodeInfo {
    const copy = new NodeInfo(this.node)
    copy.images = this.images
    copy.pods.push(...this.pods)
    copy.podsWithAffinity.push(...this.podsWithAffinity)
    copy.podsWithRequiredAntiAffinity.push(...this.podsWithRequiredAntiAffinity)
    copy.usedPorts.push(...this.usedPorts)
    for (const [claim, users] of this.claimUsers) copy.claimUsers.set(claim, users)
    copy.requested = copyOf(this.requested)
    copy.nonZeroRequested.milliCPU = this.nonZeroRequested.milliCPU
    copy.nonZeroRequested.memory = this.nonZeroRequested.memory
    return copy
  }

  #count(pod: PodInfo, sign: 1 | -1): void {
    add(this.requested, pod.requests, sign)
    this.nonZeroRequested.milliCPU += sign * pod.nonZeroRequests.milliCPU
    this.nonZeroRequested.memory += sign * pod.nonZeroRequests.memory
    this.generation = ++generations
  }
}

function remove<T>(from: T[], item: T): void {
  const at = from.indexOf(item)
  if (at >= 0) from.splice(at, 1)
}
