/** Pods for which room is being made on a node: others of lower priority must not take it. */
import type { PodInfo } from '../framework/pods/pod-info.ts'

const none: readonly PodInfo[] = []

export class NominatedPods {
  readonly #byNode = new Map<string, PodInfo[]>()
  readonly #nodes = new Map<string, string>()

  on(node: string): readonly PodInfo[] {
    return this.#byNode.get(node) ?? none
  }

  /** Where the pod of this uid is nominated. */
  nodeOf(uid: string): string | undefined {
    return this.#nodes.get(uid)
  }

  /** Nominates the pod for `node`; for none where that is empty. */
  set(pod: PodInfo, node: string): void {
    this.delete(pod.uid)
    if (!node) return
    this.#nodes.set(pod.uid, node)
    const others = this.#byNode.get(node)
    if (others) others.push(pod)
    else this.#byNode.set(node, [pod])
  }

  /** The pod has changed, and keeps its place. */
  update(pod: PodInfo): void {
    this.set(pod, this.#nodes.get(pod.uid) ?? '')
  }

  delete(uid: string): void {
    const node = this.#nodes.get(uid)
    if (node === undefined) return
    this.#nodes.delete(uid)
    const left = this.on(node).filter((pod) => pod.uid !== uid)
    if (left.length > 0) this.#byNode.set(node, left)
    else this.#byNode.delete(node)
  }
}
