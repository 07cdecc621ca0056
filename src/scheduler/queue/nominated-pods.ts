/** Pods for which room is being made on a node: others of lower priority must not take it. */
import type { PodInfo } from '../framework/pods/pod-info.ts'

const none: readonly PodInfo[] = []

export class NominatedPods {
  readonly #onFreed: (pod: PodInfo, node: string) => void
  readonly #byNode = new Map<string, PodInfo[]>()
  readonly #nodes = new Map<string, string>()

  /** `onFreed` is told of pods that no longer want what was kept for them on a node: others may have it. */
  constructor(onFreed: (pod: PodInfo, node: string) => void) {
    this.#onFreed = onFreed
  }

  on(node: string): readonly PodInfo[] {
    return this.#byNode.get(node) ?? none
  }

  /** Where the pod of this uid is nominated. */
  nodeOf(uid: string): string | undefined {
    return this.#nodes.get(uid)
  }

  /** Nominates the pod for `node`; for none where that is empty. */
  set(pod: PodInfo, node: string): void {
    const before = this.#remove(pod.uid)
    if (node) {
      this.#nodes.set(pod.uid, node)
      const others = this.#byNode.get(node)
      if (others) others.push(pod)
      else this.#byNode.set(node, [pod])
    }
    if (before && before.node !== node) this.#onFreed(before.pod, before.node)
  }

  /** The pod has gone, or has a node: `placedOn`. */
  delete(uid: string, placedOn?: string): void {
    const before = this.#remove(uid)
    if (before && before.node !== placedOn) this.#onFreed(before.pod, before.node)
  }

  #remove(uid: string): { readonly pod: PodInfo; readonly node: string } | undefined {
    const node = this.#nodes.get(uid)
    if (node === undefined) return undefined
    this.#nodes.delete(uid)
    const there = this.on(node)
    const pod = there.find((other) => other.uid === uid)
    const left = there.filter((other) => other !== pod)
    if (left.length > 0) this.#byNode.set(node, left)
    else this.#byNode.delete(node)
    return pod && { pod, node }
  }
}
