/**
 * Which objects a node has to do with: what its pods refer to, the volumes of their claims, the secrets of those volumes, and what
 * names the node itself. Counted when pods and volumes change, so that a question is a look-up.
 */

/** What pods of a node refer to. */
export type ReferencedKind = 'configmap' | 'persistentvolumeclaim' | 'pod' | 'resourceclaim' | 'secret' | 'serviceaccount'
/** What names its node. */
export type OwnedKind = 'podcertificaterequest' | 'resourceslice' | 'volumeattachment'

export interface PodEdges {
  readonly namespace: string
  readonly name: string
  readonly node: string
  readonly references: readonly (readonly [kind: ReferencedKind, name: string])[]
}

export interface VolumeEdges {
  readonly name: string
  /** The claim that it is bound to. */
  readonly claim: { readonly namespace: string; readonly name: string }
  /** The secrets that its node reads. */
  readonly secrets: readonly { readonly namespace: string; readonly name: string }[]
}

const keyOf = (kind: ReferencedKind | OwnedKind, namespace: string, name: string): string => `${kind}/${namespace}/${name}`

export class NodeGraph {
  /** By object, the nodes whose pods refer to it, and how many do. */
  readonly #users = new Map<string, Map<string, number>>()
  readonly #pods = new Map<string, readonly string[]>()
  readonly #podNodes = new Map<string, string>()
  /** By volume, its claim. */
  readonly #claims = new Map<string, string>()
  /** By secret, the volumes that have it. */
  readonly #volumes = new Map<string, Set<string>>()
  readonly #volumeSecrets = new Map<string, readonly string[]>()
  readonly #owners = new Map<string, string>()

  /** Whether a node's pods refer to an object: directly, or a secret by way of a volume. */
  refers(node: string, kind: ReferencedKind, namespace: string, name: string): boolean {
    const key = keyOf(kind, namespace, name)
    if (this.#users.get(key)?.has(node)) return true
    if (kind !== 'secret') return false
    for (const volume of this.#volumes.get(key) ?? []) if (this.refersToVolume(node, volume)) return true
    return false
  }

  refersToVolume(node: string, volume: string): boolean {
    const claim = this.#claims.get(volume)
    return claim !== undefined && (this.#users.get(claim)?.has(node) ?? false)
  }

  owns(node: string, kind: OwnedKind, namespace: string, name: string): boolean {
    return this.#owners.get(keyOf(kind, namespace, name)) === node
  }

  /** A pod as it is now; in place of what was known of it. */
  putPod({ namespace, name, node, references }: PodEdges): void {
    this.deletePod(namespace, name)
    const self = keyOf('pod', namespace, name)
    const keys = [self, ...new Set(references.map(([kind, object]) => keyOf(kind, namespace, object)))]
    this.#pods.set(self, keys)
    this.#podNodes.set(self, node)
    for (const key of keys) {
      let users = this.#users.get(key)
      if (!users) this.#users.set(key, (users = new Map()))
      users.set(node, (users.get(node) ?? 0) + 1)
    }
  }

  deletePod(namespace: string, name: string): void {
    const self = keyOf('pod', namespace, name)
    const keys = this.#pods.get(self)
    const node = this.#podNodes.get(self)
    if (!keys || node === undefined) return
    this.#pods.delete(self)
    this.#podNodes.delete(self)
    for (const key of keys) {
      const users = this.#users.get(key)
      const left = (users?.get(node) ?? 0) - 1
      if (left > 0) users?.set(node, left)
      else users?.delete(node)
      if (users?.size === 0) this.#users.delete(key)
    }
  }

  putVolume({ name, claim, secrets }: VolumeEdges): void {
    this.deleteVolume(name)
    this.#claims.set(name, keyOf('persistentvolumeclaim', claim.namespace, claim.name))
    const keys = secrets.map((secret) => keyOf('secret', secret.namespace, secret.name))
    this.#volumeSecrets.set(name, keys)
    for (const key of keys) {
      let volumes = this.#volumes.get(key)
      if (!volumes) this.#volumes.set(key, (volumes = new Set()))
      volumes.add(name)
    }
  }

  deleteVolume(name: string): void {
    for (const key of this.#volumeSecrets.get(name) ?? []) {
      const volumes = this.#volumes.get(key)
      volumes?.delete(name)
      if (volumes?.size === 0) this.#volumes.delete(key)
    }
    this.#volumeSecrets.delete(name)
    this.#claims.delete(name)
  }

  /** An empty node: it belongs to none. */
  putOwned(kind: OwnedKind, namespace: string, name: string, node: string): void {
    const key = keyOf(kind, namespace, name)
    if (node) this.#owners.set(key, node)
    else this.#owners.delete(key)
  }
}
