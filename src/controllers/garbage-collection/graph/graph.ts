/**
 * Who owns what, by uid, as the watches tell it. Owners that are named but were not seen have virtual nodes. One change
 * is worked in at a time; what may have become garbage by it, or can go on, is told to the queues.
 */
import { apiVersionOf, type Resource } from '../../../client/resource.ts'
import { jsonEqual } from '../../../machinery/fields/json.ts'
import type { ObjectMeta, OwnerReference } from '../../../machinery/object.ts'
import {
  addDependent,
  type Identity,
  isDeletingDependents,
  isOrphaning,
  type Node,
  names,
  noDependents,
  type ObjectState,
  reaches,
  stateOf,
  unseen,
} from './node.ts'

/** What the graph has to say. */
export interface GraphSinks {
  /** An object that may have to go, or an owner that may not be there: look at it. */
  attemptToDelete(uid: string): void
  /** An object whose dependents are to be released. */
  attemptToOrphan(uid: string): void
  /** An owner that has gone and had dependents. */
  absent(owner: Identity): void
  /** A dependent names an owner that is in another namespace. */
  invalidNamespace(dependent: Identity, reference: OwnerReference): void
}

export class Graph {
  readonly #nodes = new Map<string, Node>()
  readonly #sinks: GraphSinks

  constructor(sinks: GraphSinks) {
    this.#sinks = sinks
  }

  get(uid: string): Node | undefined {
    return this.#nodes.get(uid)
  }

  nodes(): Iterable<Node> {
    return this.#nodes.values()
  }

  /** An object is there, or has changed. */
  observe(resource: Resource, metadata: ObjectMeta): void {
    const { uid = '', name = '', namespace = '' } = metadata
    const identity = { apiVersion: apiVersionOf(resource), kind: resource.kind, namespace, name, uid }
    const state = this.#shared(stateOf(metadata))
    const known = this.#nodes.get(uid)
    const node: Node = known ?? { identity, resource, state: unseen, dependents: noDependents }
    if (!known) this.#nodes.set(uid, node)
    else if (!known.resource) this.#seen(known, identity)
    const before = node.state
    node.identity = identity
    node.resource = resource
    node.state = state
    this.#changeOwners(node, before.owners, state.owners)
    this.#transitions(node, before)
  }

  /** An object has changed in nothing that is known here but its version. */
  renew(uid: string, resourceVersion: string): void {
    const node = this.#nodes.get(uid)
    if (node) node.state = { ...node.state, resourceVersion }
  }

  /** An object has gone, or was never there. */
  remove(uid: string): void {
    const node = this.#nodes.get(uid)
    if (!node) return
    this.#nodes.delete(uid)
    if (node.dependents.size > 0) this.#sinks.absent(node.identity)
    for (const dependent of node.dependents) this.#sinks.attemptToDelete(dependent.identity.uid)
    for (const reference of node.state.owners) {
      const owner = this.#nodes.get(reference.uid)
      owner?.dependents.delete(node)
      if (owner && isDeletingDependents(owner.state)) this.#sinks.attemptToDelete(reference.uid)
    }
  }

  /**
   * The dependents of one owner name it alike: what one of them says is kept for all, as there may be many thousands.
   */
  #shared(state: ObjectState): ObjectState {
    const [first] = state.owners
    const [like] = (first && this.#nodes.get(first.uid)?.dependents) ?? []
    return like && jsonEqual(like.state.owners, state.owners) ? { ...state, owners: like.state.owners } : state
  }

  /** An owner that was only named is seen: those that named it in another way have to be looked at. */
  #seen(node: Node, identity: Identity): void {
    for (const dependent of node.dependents) {
      for (const reference of dependent.state.owners)
        if (reference.uid === identity.uid) this.#check(dependent, reference, identity)
    }
  }

  /** Has a dependent looked at whose reference does not meet the owner that has its uid. */
  #check(dependent: Node, reference: OwnerReference, owner: Identity): void {
    const isElsewhere = !reaches(owner, dependent.identity.namespace)
    if (isElsewhere) this.#sinks.invalidNamespace(dependent.identity, reference)
    if (isElsewhere || !names(reference, owner)) this.#sinks.attemptToDelete(dependent.identity.uid)
  }

  #changeOwners(node: Node, before: readonly OwnerReference[], now: readonly OwnerReference[]): void {
    if (before === now) return
    for (const reference of before) {
      const same = now.find(({ uid }) => uid === reference.uid)
      const owner = this.#nodes.get(reference.uid)
      if (!same) owner?.dependents.delete(node)
      // The owner may have waited for this one.
      if (reference.blockOwnerDeletion && !same?.blockOwnerDeletion && owner) this.#sinks.attemptToDelete(reference.uid)
    }
    for (const reference of now) {
      const same = before.find(({ uid }) => uid === reference.uid)
      if (!same || !isSameName(same, reference)) this.#link(node, reference)
    }
  }

  #link(node: Node, reference: OwnerReference): void {
    const { apiVersion, kind, name, uid } = reference
    const { namespace } = node.identity
    const owner = this.#nodes.get(uid)
    if (!owner) {
      const identity = { apiVersion, kind, namespace, name, uid }
      this.#nodes.set(uid, { identity, resource: undefined, state: unseen, dependents: new Set([node]) })
      this.#sinks.attemptToDelete(uid)
      return
    }
    addDependent(owner, node)
    if (owner.resource) this.#check(node, reference, owner.identity)
    // Nobody knows yet which of its names is the right one.
    else if (!names(reference, owner.identity) || owner.identity.namespace !== namespace)
      this.#sinks.attemptToDelete(uid)
  }

  #transitions(node: Node, before: ObjectState): void {
    const { state, identity } = node
    if (isOrphaning(state) && !isOrphaning(before)) this.#sinks.attemptToOrphan(identity.uid)
    else if (isDeletingDependents(state) && !isDeletingDependents(before)) {
      for (const dependent of node.dependents) this.#sinks.attemptToDelete(dependent.identity.uid)
      this.#sinks.attemptToDelete(identity.uid)
    }
  }
}

const isSameName = (a: OwnerReference, b: OwnerReference): boolean =>
  a.apiVersion === b.apiVersion && a.kind === b.kind && a.name === b.name
