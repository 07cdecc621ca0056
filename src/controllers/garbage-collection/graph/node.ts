/** An object in the graph of owners and dependents: as much of it as the collector needs, and no more. */
import type { Resource } from '../../../client/resource.ts'
import type { ObjectMeta, OwnerReference } from '../../../machinery/object.ts'

/** Which object is meant, in full. `namespace` is empty for what has none. */
export interface Identity {
  readonly apiVersion: string
  readonly kind: string
  readonly namespace: string
  readonly name: string
  readonly uid: string
}

/** What is known of an object's state, from a watch or from a look at it. */
export interface ObjectState {
  readonly resourceVersion: string
  readonly owners: readonly OwnerReference[]
  readonly finalizers: readonly string[]
  readonly beingDeleted: boolean
}

export interface Node {
  identity: Identity
  /** Undefined for an object that was named as an owner, but not seen: a virtual node. */
  resource: Resource | undefined
  state: ObjectState
  /** Of what owns nothing it is `noDependents`: `addDependent` knows. */
  dependents: Set<Node>
}

export const foregroundFinalizer = 'foregroundDeletion'
export const orphanFinalizer = 'orphan'

const none: readonly never[] = []
/** Most objects own nothing: one empty set is enough for all of them. */
export const noDependents = new Set<Node>()
export const unseen: ObjectState = { resourceVersion: '', owners: none, finalizers: none, beingDeleted: false }

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

/** Whether it waits for its dependents to go first. */
export const isDeletingDependents = ({ beingDeleted, finalizers }: ObjectState): boolean =>
  beingDeleted && finalizers.includes(foregroundFinalizer)
/** Whether it waits for its dependents to be released. */
export const isOrphaning = ({ beingDeleted, finalizers }: ObjectState): boolean =>
  beingDeleted && finalizers.includes(orphanFinalizer)

/** Whether a reference names the object by its kind and name: uids alone say nothing of where to look. */
export const names = (reference: OwnerReference, { apiVersion, kind, name }: Identity): boolean =>
  reference.apiVersion === apiVersion && reference.kind === kind && reference.name === name

/** Whether an object may own what is in a namespace: one of the same, or of the whole cluster. */
export const reaches = (owner: Identity, namespace: string): boolean =>
  owner.namespace === '' || owner.namespace === namespace

/** The dependents that an owner waits for. One that owns itself does not wait for itself. */
export const blockingDependents = (owner: Node): Node[] =>
  [...owner.dependents].filter(
    (dependent) =>
      dependent !== owner &&
      dependent.state.owners.some(
        ({ uid, blockOwnerDeletion }) => uid === owner.identity.uid && blockOwnerDeletion === true,
      ),
  )

/** Whether an owner that waits for its dependents waits, by way of them, for itself. */
export function waitsForItself(owner: Node): boolean {
  const seen = new Set<Node>()
  const next = blockingDependents(owner)
  for (let node = next.pop(); node; node = next.pop()) {
    if (node === owner) return true
    if (seen.has(node) || !isDeletingDependents(node.state)) continue
    seen.add(node)
    next.push(...blockingDependents(node))
  }
  return false
}
