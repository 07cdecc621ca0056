/**
 * The pods that this node should run, of the API and of manifests: the source of truth for workers, servers and others.
 * Mirror pods, which represent static pods in the API, do not run.
 */
import { keyOf } from '../../client/informers/informer.ts'
import type { Pod } from '../pod-types.ts'
import { isMirror, isStatic } from './static-pods/annotations.ts'

/** `pod` is undefined after a removal, `old` for a new pod. */
export type PodChange = (pod: Pod | undefined, old: Pod | undefined) => void

const uidOf = ({ metadata }: Pod): string => metadata.uid ?? ''

export class DesiredPods {
  readonly #pods = new Map<string, Pod>()
  /** By namespace and name. */
  readonly #statics = new Map<string, Pod>()
  readonly #mirrors = new Map<string, Pod>()
  /** By source: the UIDs of its static pods. */
  readonly #sources = new Map<string, ReadonlySet<string>>()
  readonly #podHandlers: PodChange[] = []
  readonly #mirrorHandlers: ((key: string) => void)[] = []

  /** The pods that run: those of the API without mirror pods, and static ones. */
  get pods(): Pod[] {
    return [...this.#pods.values()]
  }

  get mirrors(): Pod[] {
    return [...this.#mirrors.values()]
  }

  /** Finds a pod that runs by its UID. */
  find(uid: string): Pod | undefined {
    return this.#pods.get(uid)
  }

  /** The static pod of a mirror pod. */
  staticOf(mirror: Pod): Pod | undefined {
    return this.#statics.get(keyOf(mirror))
  }

  /** The mirror pod of a static pod; undefined if the API has none. */
  mirrorOf(pod: Pod): Pod | undefined {
    return this.#mirrors.get(keyOf(pod))
  }

  staticNamed(key: string): Pod | undefined {
    return this.#statics.get(key)
  }

  mirrorNamed(key: string): Pod | undefined {
    return this.#mirrors.get(key)
  }

  /** Calls back with each change of a pod that runs. */
  onPod(handler: PodChange): void {
    this.#podHandlers.push(handler)
  }

  /** Calls back with the namespace and name of each static or mirror pod that has changed. */
  onMirror(handler: (key: string) => void): void {
    this.#mirrorHandlers.push(handler)
  }

  /** Takes a change in the API. */
  setOfApi(pod: Pod | undefined, old: Pod | undefined): void {
    const current = pod ?? old
    if (!current) return
    if (isMirror(current)) this.#setMirror(pod, current)
    else this.#set(pod, uidOf(current))
  }

  /** Takes all pods of a source of manifests, which replace its former ones. */
  setStatic(source: string, pods: readonly Pod[]): void {
    const uids = new Set(pods.map(uidOf))
    const before = this.#sources.get(source) ?? new Set()
    this.#sources.set(source, uids)
    // Removals come first: a changed manifest is a new pod with an old name.
    for (const uid of before) if (!uids.has(uid)) this.#set(undefined, uid)
    for (const pod of pods) if (this.#pods.get(uidOf(pod)) !== pod) this.#set(pod, uidOf(pod))
  }

  #set(pod: Pod | undefined, uid: string): void {
    const old = this.#pods.get(uid)
    const current = pod ?? old
    if (!current) return
    if (pod) this.#pods.set(uid, pod)
    else this.#pods.delete(uid)
    const key = keyOf(current)
    if (isStatic(current)) {
      if (pod) this.#statics.set(key, pod)
      else if (this.#statics.get(key) === old) this.#statics.delete(key)
    }
    for (const handler of this.#podHandlers) handler(pod, old)
    if (isStatic(current)) this.#notifyMirror(key)
  }

  #setMirror(pod: Pod | undefined, current: Pod): void {
    const key = keyOf(current)
    const known = this.#mirrors.get(key)
    if (pod) this.#mirrors.set(key, pod)
    else if (known && uidOf(known) === uidOf(current)) this.#mirrors.delete(key)
    this.#notifyMirror(key)
  }

  #notifyMirror(key: string): void {
    for (const handler of this.#mirrorHandlers) handler(key)
  }
}
