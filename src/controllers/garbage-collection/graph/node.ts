/** An object in the graph, reduced to what the collector needs. */
import type { Resource } from '../../../client/resource.ts'
import type { ObjectMeta, OwnerReference } from '../../../machinery/object.ts'

/** Identifies an object. `namespace` is empty if it is cluster-scoped. */
export interface Identity {
  readonly apiVersion: string
  readonly kind: string
  readonly namespace: string
  readonly name: string
  readonly uid: string
}

/** The state of an object from a watch or a read. */
export interface ObjectState {
  readonly resourceVersion: string
  readonly owners: readonly OwnerReference[]
  readonly finalizers: readonly string[]
  readonly beingDeleted: boolean
}

export interface Node {
  identity: Identity
  /** Undefined for a virtual node: an owner that was referenced but not observed. */
  resource: Resource | undefined
  state: ObjectState
  /** `noDependents` if empty: add with `addDependent`. */
  dependents: Set<Node>
}

export const foregroundFinalizer = 'foregroundDeletion'
export const orphanFinalizer = 'orphan'

const none: readonly never[] = []
/** The shared empty set of the many objects without dependents. */
export const noDependents = new Set<Node>()
export const unobserved: ObjectState = { resourceVersion: '', owners: none, finalizers: none, beingDeleted: false }

export const stateOf = ({
  resourceVersion = '',
  ownerReferences,
  finalizers,
  deletionTimestamp,
}: ObjectMeta): ObjectState => ({
  resourceVersion,
  owners: ownerReferences?.length ? ownerReferences : none,
  finalizers: finalizers?.length ? finalizers : none,
  beingDeleted: deletionTimestamp !== undefined,
})

export function addDependent(owner: Node, dependent: Node): void {
  if (owner.dependents === noDependents) owner.dependents = new Set()
  owner.dependents.add(dependent)
}

/** Returns true if the object waits for the deletion of its dependents. */
export const isDeletingDependents = ({ beingDeleted, finalizers }: ObjectState): boolean =>
  beingDeleted && finalizers.includes(foregroundFinalizer)
/** Returns true if the object waits for its dependents to be orphaned. */
export const isOrphaning = ({ beingDeleted, finalizers }: ObjectState): boolean =>
  beingDeleted && finalizers.includes(orphanFinalizer)

/** Returns true if a reference has the kind and name of the object, as look-ups need more than the uid. */
export const matchesReference = (reference: OwnerReference, { apiVersion, kind, name }: Identity): boolean =>
  reference.apiVersion === apiVersion && reference.kind === kind && reference.name === name

/** Returns true if an object may own objects in a namespace: it is in the same one or cluster-scoped. */
export const canOwnIn = (owner: Identity, namespace: string): boolean =>
  owner.namespace === '' || owner.namespace === namespace

/** The dependents that block an owner's deletion, except itself. */
export const blockingDependents = (owner: Node): Node[] =>
  [...owner.dependents].filter(
    (dependent) =>
      dependent !== owner &&
      dependent.state.owners.some(
        ({ uid, blockOwnerDeletion }) => uid === owner.identity.uid && blockOwnerDeletion === true,
      ),
  )

/** Returns true if an owner waits for itself through its dependents. */
export function waitsForItself(owner: Node): boolean {
  const visited = new Set<Node>()
  const next = blockingDependents(owner)
  for (let node = next.pop(); node; node = next.pop()) {
    if (node === owner) return true
    if (visited.has(node) || !isDeletingDependents(node.state)) continue
    visited.add(node)
    next.push(...blockingDependents(node))
  }
  return false
}
