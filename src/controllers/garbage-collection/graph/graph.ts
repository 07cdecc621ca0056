/**
 * The graph of owners and dependents by uid, built from watches. Referenced owners that were not observed have virtual
 * nodes. Each change is applied synchronously and calls the handlers for objects that may need processing.
 */
import { apiVersionOf, type Resource } from '../../../client/resource.ts'
import { jsonEqual } from '../../../machinery/fields/json.ts'
import type { ObjectMeta, OwnerReference } from '../../../machinery/object.ts'
import {
  addDependent,
  canOwnIn,
  type Identity,
  isDeletingDependents,
  isOrphaning,
  matchesReference,
  type Node,
  noDependents,
  type ObjectState,
  stateOf,
  unobserved,
} from './node.ts'

/** Called by the graph on changes. */
export interface GraphHandlers {
  /** An object may be garbage, or an owner may be missing. */
  attemptToDelete(uid: string): void
  /** An object's dependents must be orphaned. */
  attemptToOrphan(uid: string): void
  /** An owner with dependents was removed. */
  absent(owner: Identity): void
  /** A dependent references an owner in another namespace. */
  invalidNamespace(dependent: Identity, reference: OwnerReference): void
}

export class Graph {
  readonly #nodes = new Map<string, Node>()
  readonly #handlers: GraphHandlers

  constructor(handlers: GraphHandlers) {
    this.#handlers = handlers
  }

  get(uid: string): Node | undefined {
    return this.#nodes.get(uid)
  }

  nodes(): Iterable<Node> {
    return this.#nodes.values()
  }

  /** Adds or updates an object. */
  observe(resource: Resource, metadata: ObjectMeta): void {
    const { uid = '', name = '', namespace = '' } = metadata
    const identity = { apiVersion: apiVersionOf(resource), kind: resource.kind, namespace, name, uid }
    const state = this.#shareOwners(stateOf(metadata))
    const known = this.#nodes.get(uid)
    const node: Node = known ?? { identity, resource, state: unobserved, dependents: noDependents }
    if (!known) this.#nodes.set(uid, node)
    else if (!known.resource) this.#resolveVirtual(known, identity)
    const before = node.state
    node.identity = identity
    node.resource = resource
    node.state = state
    this.#changeOwners(node, before.owners, state.owners)
    this.#transitions(node, before)
  }

  /** Updates the resourceVersion of an object without other changes. */
  updateVersion(uid: string, resourceVersion: string): void {
    const node = this.#nodes.get(uid)
    if (node) node.state = { ...node.state, resourceVersion }
  }

  /** Removes an object that was deleted or never existed. */
  remove(uid: string): void {
    const node = this.#nodes.get(uid)
    if (!node) return
    this.#nodes.delete(uid)
    if (node.dependents.size > 0) this.#handlers.absent(node.identity)
    for (const dependent of node.dependents) this.#handlers.attemptToDelete(dependent.identity.uid)
    for (const reference of node.state.owners) {
      const owner = this.#nodes.get(reference.uid)
      owner?.dependents.delete(node)
      if (owner && isDeletingDependents(owner.state)) this.#handlers.attemptToDelete(reference.uid)
    }
  }

  /** Shares equal owner references among the dependents of an owner, of which there may be many thousands. */
  #shareOwners(state: ObjectState): ObjectState {
    const [first] = state.owners
    const [like] = (first && this.#nodes.get(first.uid)?.dependents) ?? []
    return like && jsonEqual(like.state.owners, state.owners) ? { ...state, owners: like.state.owners } : state
  }

  /** A virtual owner was observed: checks the references of its dependents. */
  #resolveVirtual(node: Node, identity: Identity): void {
    for (const dependent of node.dependents) {
      for (const reference of dependent.state.owners)
        if (reference.uid === identity.uid) this.#check(dependent, reference, identity)
    }
  }

  /** Enqueues a dependent whose reference does not match the owner with that uid. */
  #check(dependent: Node, reference: OwnerReference, owner: Identity): void {
    const isElsewhere = !canOwnIn(owner, dependent.identity.namespace)
    if (isElsewhere) this.#handlers.invalidNamespace(dependent.identity, reference)
    if (isElsewhere || !matchesReference(reference, owner)) this.#handlers.attemptToDelete(dependent.identity.uid)
  }

  #changeOwners(node: Node, before: readonly OwnerReference[], now: readonly OwnerReference[]): void {
    if (before === now) return
    for (const reference of before) {
      const same = now.find(({ uid }) => uid === reference.uid)
      const owner = this.#nodes.get(reference.uid)
      if (!same) owner?.dependents.delete(node)
      // The owner may have waited for this dependent.
      if (reference.blockOwnerDeletion && !same?.blockOwnerDeletion && owner)
        this.#handlers.attemptToDelete(reference.uid)
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
      this.#nodes.set(uid, { identity, resource: undefined, state: unobserved, dependents: new Set([node]) })
      this.#handlers.attemptToDelete(uid)
      return
    }
    addDependent(owner, node)
    if (owner.resource) this.#check(node, reference, owner.identity)
    // It is not known yet which of the names is correct.
    else if (!matchesReference(reference, owner.identity) || owner.identity.namespace !== namespace)
      this.#handlers.attemptToDelete(uid)
  }

  #transitions(node: Node, before: ObjectState): void {
    const { state, identity } = node
    if (isOrphaning(state) && !isOrphaning(before)) this.#handlers.attemptToOrphan(identity.uid)
    else if (isDeletingDependents(state) && !isDeletingDependents(before)) {
      for (const dependent of node.dependents) this.#handlers.attemptToDelete(dependent.identity.uid)
      this.#handlers.attemptToDelete(identity.uid)
    }
  }
}

const isSameName = (a: OwnerReference, b: OwnerReference): boolean =>
  a.apiVersion === b.apiVersion && a.kind === b.kind && a.name === b.name
