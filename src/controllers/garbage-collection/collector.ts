/** Processes the graph's requests: deletes objects without owners, releases dependents, removes finalizers. */
import { isConflict, isObjectNotFound } from '../../client/rest/api-errors.ts'
import type { RestClient } from '../../client/rest/rest-client.ts'
import type { OwnerReference } from '../../machinery/object.ts'
import { type ClassifiedReference, decide } from './decision.ts'
import type { Graph } from './graph/graph.ts'
import {
  blockingDependents,
  canOwnIn,
  foregroundFinalizer,
  isDeletingDependents,
  isOrphaning,
  matchesReference,
  type Node,
  type ObjectState,
  orphanFinalizer,
  waitsForItself,
} from './graph/node.ts'
import { type Kinds, UnknownKind } from './kinds.ts'
import { isUnknownPath, liveState, type Owners, standingOf } from './owners.ts'

/** An owner exists but no watch has reported it yet. */
export class OwnerNotObserved extends Error {}

export interface CollectorOptions {
  readonly client: RestClient
  readonly graph: Graph
  readonly kinds: Kinds
  readonly owners: Owners
  /** Enqueues an object for `attemptToDelete`. */
  readonly enqueue: (uid: string) => void
  /** Defers an object until more kinds are known. */
  readonly park: (uid: string) => void
}

/** Maximum number of concurrent releases. */
const maxConcurrentReleases = 80
const maxOrphaned = 500

export class Collector {
  readonly #options: CollectorOptions
  /** Recent owners whose dependents were released: dependents that appear later are released too. */
  readonly #orphaned = new Set<string>()

  constructor(options: CollectorOptions) {
    this.#options = options
  }

  /** Deletes an object if its owners require it. Rejects if that cannot be decided or done now, for a retry. */
  async attemptToDelete(uid: string): Promise<void> {
    const node = this.#options.graph.get(uid)
    if (!node) return
    try {
      if (!node.resource) await this.#verify(node)
      else if (isDeletingDependents(node.state)) await this.#waitForDependents(node)
      else if (!node.state.beingDeleted && node.state.owners.length > 0)
        await this.#write(node, (latest) => this.#processOwners(node, latest))
    } catch (error) {
      if (!(error instanceof UnknownKind)) throw error
      this.#options.park(uid)
    }
  }

  /** Removes the owner's reference from its dependents, then its finalizer. Rejects like `attemptToDelete`. */
  async attemptToOrphan(uid: string): Promise<void> {
    const node = this.#options.graph.get(uid)
    if (!node || !isOrphaning(node.state)) return
    const dependents = [...node.dependents]
    for (let at = 0; at < dependents.length; at += maxConcurrentReleases) {
      await Promise.all(
        dependents
          .slice(at, at + maxConcurrentReleases)
          .map((dependent) => this.#write(dependent, (latest) => this.#release(dependent, latest, new Set([uid])))),
      )
    }
    if (this.#orphaned.size >= maxOrphaned)
      for (const oldest of this.#orphaned) if (this.#orphaned.delete(oldest)) break
    this.#orphaned.add(uid)
    await this.#write(node, (latest) => this.#removeFinalizer(node, latest, orphanFinalizer))
  }

  /** Looks up an unobserved owner by each name under which its dependents reference it. */
  async #verify(node: Node): Promise<void> {
    const { uid } = node.identity
    let isReferenced = false
    let exists = false
    let isUnknown = false
    for (const { reference, namespace, dependents } of mentions(node)) {
      try {
        const found = await this.#options.owners.find(reference, namespace)
        if (found === 'absent') for (const dependent of dependents) this.#options.enqueue(dependent.identity.uid)
        else isReferenced = true
        if (typeof found === 'object') exists = true
      } catch (error) {
        if (!(error instanceof UnknownKind)) throw error
        isReferenced = isUnknown = true
      }
    }
    if (isUnknown) this.#options.park(uid)
    // The watch may have reported it meanwhile.
    if (this.#options.graph.get(uid) !== node || node.resource) return
    if (!isReferenced) this.#options.graph.remove(uid)
    else if (exists)
      throw new OwnerNotObserved(`${node.identity.kind} ${node.identity.name} exists but was not observed yet`)
  }

  async #processOwners(node: Node, latest: ObjectState): Promise<void> {
    if (latest.beingDeleted || latest.owners.length === 0) return
    const { uid, namespace, name } = node.identity
    if (latest.owners.some((owner) => this.#orphaned.has(owner.uid))) {
      await this.#release(node, latest, this.#orphaned)
      return this.#options.enqueue(uid)
    }
    const owners: ClassifiedReference[] = []
    for (const reference of latest.owners) {
      const found = this.#observedOwner(reference, namespace) ?? (await this.#options.owners.find(reference, namespace))
      // Such a reference is invalid and cannot be looked up: the object is retained.
      if (found === 'impossible') return
      owners.push({ reference, standing: standingOf(found) })
    }
    const decision = decide({ owners, finalizers: latest.finalizers, hasDependents: node.dependents.size > 0 })
    const { resourceVersion } = latest
    if (decision.action === 'release') await this.#patch(node, { resourceVersion, ownerReferences: decision.owners })
    else if (decision.action === 'delete')
      await this.#options.client.delete(this.#resource(node), namespace, name, {
        uid,
        resourceVersion,
        propagationPolicy: decision.policy,
      })
  }

  /** Returns a live owner from the graph. If that is stale, the owner's deletion will enqueue its dependents. */
  #observedOwner(reference: OwnerReference, namespace: string): ObjectState | undefined {
    const owner = this.#options.graph.get(reference.uid)
    const isSolid =
      owner?.resource &&
      matchesReference(reference, owner.identity) &&
      canOwnIn(owner.identity, namespace) &&
      !isDeletingDependents(owner.state)
    return isSolid ? owner.state : undefined
  }

  async #waitForDependents(node: Node): Promise<void> {
    const blocking = blockingDependents(node)
    if (blocking.length === 0)
      return this.#write(node, (latest) => this.#removeFinalizer(node, latest, foregroundFinalizer))
    if (waitsForItself(node)) return this.#write(node, (latest) => this.#unblockOwners(node, latest))
    for (const { identity, state } of blocking) if (!isDeletingDependents(state)) this.#options.enqueue(identity.uid)
  }

  async #release(node: Node, { owners, resourceVersion }: ObjectState, uids: ReadonlySet<string>): Promise<void> {
    const remaining = owners.filter(({ uid }) => !uids.has(uid))
    if (remaining.length < owners.length)
      await this.#patch(node, { resourceVersion, ownerReferences: remaining.length > 0 ? remaining : null })
  }

  async #unblockOwners(node: Node, { owners, resourceVersion }: ObjectState): Promise<void> {
    if (!owners.some(({ blockOwnerDeletion }) => blockOwnerDeletion)) return
    await this.#patch(node, {
      resourceVersion,
      ownerReferences: owners.map((owner) => ({ ...owner, blockOwnerDeletion: false })),
    })
  }

  async #removeFinalizer(node: Node, { finalizers, resourceVersion }: ObjectState, finalizer: string): Promise<void> {
    if (!finalizers.includes(finalizer)) return
    await this.#patch(node, { resourceVersion, finalizers: finalizers.filter((name) => name !== finalizer) })
  }

  /** Writes based on the observed state; on a conflict, retries with the live state. */
  async #write(node: Node, write: (latest: ObjectState) => Promise<void>): Promise<void> {
    const { graph, client, kinds } = this.#options
    if (!node.resource) return
    try {
      try {
        await write(node.state)
      } catch (error) {
        if (!isConflict(error)) throw error
        const live = await liveState(client, kinds, node.identity)
        if (live) await write(live)
        else graph.remove(node.identity.uid)
      }
    } catch (error) {
      if (isObjectNotFound(error)) graph.remove(node.identity.uid)
      else throw isUnknownPath(error) ? new UnknownKind(node.identity.apiVersion, node.identity.kind) : error
    }
  }

  async #patch(node: Node, metadata: object): Promise<void> {
    const { namespace, name } = node.identity
    await this.#options.client.patch(this.#resource(node), namespace, name, { metadata }, 'merge')
  }

  #resource({ resource, identity }: Node) {
    return resource ?? this.#options.kinds.resource(identity.apiVersion, identity.kind)
  }
}

interface Mention {
  readonly reference: OwnerReference
  readonly namespace: string
  readonly dependents: Node[]
}

/** The distinct references of dependents to an owner: usually one, more if some are wrong. */
function mentions(owner: Node): Iterable<Mention> {
  const all = new Map<string, Mention>()
  for (const dependent of owner.dependents) {
    const { namespace } = dependent.identity
    for (const reference of dependent.state.owners) {
      if (reference.uid !== owner.identity.uid) continue
      const key = [reference.apiVersion, reference.kind, namespace, reference.name].join(' ')
      const mention = all.get(key) ?? { reference, namespace, dependents: [] }
      mention.dependents.push(dependent)
      all.set(key, mention)
    }
  }
  return all.values()
}
