/**
 * The objects that a node may access: references of its pods, the volumes of their claims, the secrets of those
 * volumes, and objects that name the node. References are counted when pods and volumes change, so that a check is a
 * look-up.
 */

/** Kinds that pods refer to. */
export type ReferencedKind =
  | 'configmap'
  | 'persistentvolumeclaim'
  | 'pod'
  | 'resourceclaim'
  | 'secret'
  | 'serviceaccount'
/** Kinds with a field for the name of their node. */
export type OwnedKind = 'podcertificaterequest' | 'resourceslice' | 'volumeattachment'

export interface PodEdges {
  readonly namespace: string
  readonly name: string
  readonly node: string
  readonly references: readonly (readonly [kind: ReferencedKind, name: string])[]
}

export interface VolumeEdges {
  readonly name: string
  /** The claim that the volume is bound to. */
  readonly claim: { readonly namespace: string; readonly name: string }
  /** The secrets that the node reads. */
  readonly secrets: readonly { readonly namespace: string; readonly name: string }[]
}

const keyOf = (kind: ReferencedKind | OwnedKind, namespace: string, name: string): string =>
  `${kind}/${namespace}/${name}`

export class NodeGraph {
  /**
   * By object: the number of references from the pods of each node. A volume's secret counts once for each pod with the
   * volume's claim.
   */
  readonly #users = new Map<string, Map<string, number>>()
  readonly #pods = new Map<string, { readonly node: string; readonly keys: readonly string[] }>()
  readonly #volumes = new Map<string, { readonly claim: string; readonly secrets: readonly string[] }>()
  /** By claim: the volumes bound to it, normally one. */
  readonly #volumesOf = new Map<string, Set<string>>()
  readonly #owners = new Map<string, string>()

  /** Returns true if the node's pods refer to an object, directly or to a secret through a volume. */
  refers(node: string, kind: ReferencedKind, namespace: string, name: string): boolean {
    return this.#users.get(keyOf(kind, namespace, name))?.has(node) ?? false
  }

  refersToVolume(node: string, name: string): boolean {
    const volume = this.#volumes.get(name)
    return volume !== undefined && (this.#users.get(volume.claim)?.has(node) ?? false)
  }

  owns(node: string, kind: OwnedKind, namespace: string, name: string): boolean {
    return this.#owners.get(keyOf(kind, namespace, name)) === node
  }

  /** Adds or replaces a pod. */
  putPod({ namespace, name, node, references }: PodEdges): void {
    this.deletePod(namespace, name)
    const key = keyOf('pod', namespace, name)
    const keys = [key, ...new Set(references.map(([kind, object]) => keyOf(kind, namespace, object)))]
    this.#pods.set(key, { node, keys })
    this.#countPod(keys, node, 1)
  }

  deletePod(namespace: string, name: string): void {
    const key = keyOf('pod', namespace, name)
    const pod = this.#pods.get(key)
    if (!pod) return
    this.#pods.delete(key)
    this.#countPod(pod.keys, pod.node, -1)
  }

  putVolume({ name, claim, secrets }: VolumeEdges): void {
    this.deleteVolume(name)
    const volume = {
      claim: keyOf('persistentvolumeclaim', claim.namespace, claim.name),
      secrets: secrets.map((secret) => keyOf('secret', secret.namespace, secret.name)),
    }
    this.#volumes.set(name, volume)
    let volumes = this.#volumesOf.get(volume.claim)
    if (!volumes) this.#volumesOf.set(volume.claim, (volumes = new Set()))
    volumes.add(name)
    for (const [node, pods] of this.#users.get(volume.claim) ?? [])
      for (const secret of volume.secrets) this.#count(secret, node, pods)
  }

  deleteVolume(name: string): void {
    const volume = this.#volumes.get(name)
    if (!volume) return
    this.#volumes.delete(name)
    const volumes = this.#volumesOf.get(volume.claim)
    volumes?.delete(name)
    if (volumes?.size === 0) this.#volumesOf.delete(volume.claim)
    for (const [node, pods] of this.#users.get(volume.claim) ?? [])
      for (const secret of volume.secrets) this.#count(secret, node, -pods)
  }

  /** An empty node removes the owner. */
  putOwned(kind: OwnedKind, namespace: string, name: string, node: string): void {
    const key = keyOf(kind, namespace, name)
    if (node) this.#owners.set(key, node)
    else this.#owners.delete(key)
  }

  #countPod(keys: readonly string[], node: string, by: 1 | -1): void {
    for (const key of keys) {
      this.#count(key, node, by)
      for (const volume of this.#volumesOf.get(key) ?? [])
        for (const secret of this.#volumes.get(volume)?.secrets ?? []) this.#count(secret, node, by)
    }
  }

  #count(key: string, node: string, by: number): void {
    let users = this.#users.get(key)
    if (!users) this.#users.set(key, (users = new Map()))
    const count = (users.get(node) ?? 0) + by
    if (count > 0) users.set(node, count)
    else users.delete(node)
    if (users.size === 0) this.#users.delete(key)
  }
}
