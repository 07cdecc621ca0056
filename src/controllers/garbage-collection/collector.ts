/**
 * Carries out what the graph asks for: deletes what has no owner any more, releases dependents, lets owners go that
 * waited for theirs.
 */
import { isConflict, isObjectNotFound } from '../../client/rest/api-errors.ts'
import type { RestClient } from '../../client/rest/rest-client.ts'
import type { OwnerReference } from '../../machinery/object.ts'
import { decide, type JudgedReference } from './decision.ts'
import type { Graph } from './graph/graph.ts'
import {
  blockingDependents,
  foregroundFinalizer,
  isDeletingDependents,
  isOrphaning,
  type Node,
  names,
  type ObjectState,
  orphanFinalizer,
  reaches,
  waitsForItself,
} from './graph/node.ts'
import { type Kinds, UnknownKind } from './kinds.ts'
import { isUnknownPath, liveState, type Owners, standingOf } from './owners.ts'

/** An owner that is there, but that no watch has shown yet. */
export class NotSeenYet extends Error {}

export interface CollectorParts {
  readonly client: RestClient
  readonly graph: Graph
  readonly kinds: Kinds
  readonly owners: Owners
  /** Has an object looked at once more. */
  readonly again: (uid: string) => void
  /** Has an object looked at when more kinds are known. */
  readonly park: (uid: string) => void
}

/** Dependents that are released at once. */
const releasedAtOnce = 80
const mostOrphaned = 500

export class Collector {
  readonly #parts: CollectorParts
  /** Owners whose dependents were released, the latest of them: a dependent that shows up later is released too. */
  readonly #orphaned = new Set<string>()

  constructor(parts: CollectorParts) {
    this.#parts = parts
  }

  /** Looks whether an object has to go. Rejects when that cannot be said or done now: it has to be tried again. */
  async attemptToDelete(uid: string): Promise<void> {
    const node = this.#parts.graph.get(uid)
    if (!node) return
    try {
      if (!node.resource) await this.#verify(node)
      else if (isDeletingDependents(node.state)) await this.#waitForDependents(node)
      else if (!node.state.beingDeleted && node.state.owners.length > 0)
        await this.#write(node, (latest) => this.#judge(node, latest))
    } catch (error) {
      if (!(error instanceof UnknownKind)) throw error
      this.#parts.park(uid)
    }
  }

  /** Takes an owner's reference from its dependents, then lets the owner go. Rejects as `attemptToDelete`. */
  async attemptToOrphan(uid: string): Promise<void> {
    const node = this.#parts.graph.get(uid)
    if (!node || !isOrphaning(node.state)) return
    const dependents = [...node.dependents]
    for (let at = 0; at < dependents.length; at += releasedAtOnce) {
      await Promise.all(
        dependents
          .slice(at, at + releasedAtOnce)
          .map((dependent) => this.#write(dependent, (latest) => this.#release(dependent, latest, new Set([uid])))),
      )
    }
    if (this.#orphaned.size >= mostOrphaned)
      for (const oldest of this.#orphaned) if (this.#orphaned.delete(oldest)) break
    this.#orphaned.add(uid)
    await this.#write(node, (latest) => this.#removeFinalizer(node, latest, orphanFinalizer))
  }

  /** Finds out whether an owner that nobody has seen is there, under each name that its dependents have for it. */
  async #verify(node: Node): Promise<void> {
    const { uid } = node.identity
    let left = false
    let isThere = false
    let isUnknown = false
    for (const { reference, namespace, dependents } of mentions(node)) {
      try {
        const found = await this.#parts.owners.find(reference, namespace)
        if (found === 'absent') for (const dependent of dependents) this.#parts.again(dependent.identity.uid)
        else left = true
        if (typeof found === 'object') isThere = true
      } catch (error) {
        if (!(error instanceof UnknownKind)) throw error
        left = isUnknown = true
      }
    }
    if (isUnknown) this.#parts.park(uid)
    // The watch may have shown it in the meantime.
    if (this.#parts.graph.get(uid) !== node || node.resource) return
    if (!left) this.#parts.graph.remove(uid)
    else if (isThere) throw new NotSeenYet(`${node.identity.kind} ${node.identity.name} is there, but was not seen yet`)
  }

  async #judge(node: Node, latest: ObjectState): Promise<void> {
    if (latest.beingDeleted || latest.owners.length === 0) return
    const { uid, namespace, name } = node.identity
    if (latest.owners.some((owner) => this.#orphaned.has(owner.uid))) {
      await this.#release(node, latest, this.#orphaned)
      return this.#parts.again(uid)
    }
    const owners: JudgedReference[] = []
    for (const reference of latest.owners) {
      const found = this.#known(reference, namespace) ?? (await this.#parts.owners.find(reference, namespace))
      // Such an owner cannot be looked up, and will never be right: the object is left alone.
      if (found === 'impossible') return
      owners.push({ reference, standing: standingOf(found) })
    }
    const decision = decide({ owners, finalizers: latest.finalizers, hasDependents: node.dependents.size > 0 })
    const { resourceVersion } = latest
    if (decision.action === 'release') await this.#patch(node, { resourceVersion, ownerReferences: decision.owners })
    else if (decision.action === 'delete')
      await this.#parts.client.delete(this.#resource(node), namespace, name, {
        uid,
        resourceVersion,
        propagationPolicy: decision.policy,
      })
  }

  /**
   * An owner that the watch shows alive keeps its dependents: if that is late news, its end will bring them up again.
   */
  #known(reference: OwnerReference, namespace: string): ObjectState | undefined {
    const owner = this.#parts.graph.get(reference.uid)
    const isSolid =
      owner?.resource &&
      names(reference, owner.identity) &&
      reaches(owner.identity, namespace) &&
      !isDeletingDependents(owner.state)
    return isSolid ? owner.state : undefined
  }

  async #waitForDependents(node: Node): Promise<void> {
    const blocking = blockingDependents(node)
    if (blocking.length === 0)
      return this.#write(node, (latest) => this.#removeFinalizer(node, latest, foregroundFinalizer))
    if (waitsForItself(node)) return this.#write(node, (latest) => this.#unblockOwners(node, latest))
    for (const { identity, state } of blocking) if (!isDeletingDependents(state)) this.#parts.again(identity.uid)
  }

  async #release(node: Node, { owners, resourceVersion }: ObjectState, uids: ReadonlySet<string>): Promise<void> {
    const kept = owners.filter(({ uid }) => !uids.has(uid))
    if (kept.length < owners.length)
      await this.#patch(node, { resourceVersion, ownerReferences: kept.length > 0 ? kept : null })
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

  /** Writes by what was seen last, on condition that it is so still; if it is not, by what is there now. */
  async #write(node: Node, write: (latest: ObjectState) => Promise<void>): Promise<void> {
    const { graph, client, kinds } = this.#parts
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
    await this.#parts.client.patch(this.#resource(node), namespace, name, { metadata }, 'merge')
  }

  #resource({ resource, identity }: Node) {
    return resource ?? this.#parts.kinds.resource(identity.apiVersion, identity.kind)
  }
}

interface Mention {
  readonly reference: OwnerReference
  readonly namespace: string
  readonly dependents: Node[]
}

/** The ways in which an owner is named by its dependents: one, unless somebody is wrong. */
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
