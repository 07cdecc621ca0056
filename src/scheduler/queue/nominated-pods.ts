/** Pods with a nominated node: pods of lower priority must not take the resources freed for them. */
import type { PodInfo } from '../framework/pods/pod-info.ts'

const none: readonly PodInfo[] = []

export class NominatedPods {
  readonly #onFreed: (pod: PodInfo, node: string) => void
  readonly #byNode = new Map<string, PodInfo[]>()
  readonly #nodes = new Map<string, string>()

  /** `onFreed` is called when a pod gives up its nomination, so that other pods may use the node. */
  constructor(onFreed: (pod: PodInfo, node: string) => void) {
    this.#onFreed = onFreed
  }

  podsOn(node: string): readonly PodInfo[] {
    return this.#byNode.get(node) ?? none
  }

  /** The nominated node of the pod of this uid. */
  nodeOf(uid: string): string | undefined {
    return this.#nodes.get(uid)
  }

  /** Nominates the pod for `node`; empty removes the nomination. */
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

  /** Call when the pod was deleted, or bound to `placedOn`. */
  delete(uid: string, placedOn?: string): void {
    const before = this.#remove(uid)
    if (before && before.node !== placedOn) this.#onFreed(before.pod, before.node)
  }

  #remove(uid: string): { readonly pod: PodInfo; readonly node: string } | undefined {
    const node = this.#nodes.get(uid)
    if (node === undefined) return undefined
    this.#nodes.delete(uid)
    const nominated = this.podsOn(node)
    const pod = nominated.find((other) => other.uid === uid)
    const remaining = nominated.filter((other) => other !== pod)
    if (remaining.length > 0) this.#byNode.set(node, remaining)
    else this.#byNode.delete(node)
    return pod && { pod, node }
  }
}
