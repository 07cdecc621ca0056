/** Changes of a resource's objects, as watches see them. */
import type { ServedResource } from '../served-resource.ts'
import type { StoredObject } from '../stored-object.ts'

/** For a delete, `object` is the last state with the revision of the delete. */
export interface ObjectChange {
  readonly type: 'put' | 'delete'
  readonly revision: number
  readonly object: StoredObject
  readonly previous: StoredObject | undefined
}

/** The removal of an object. Its last state is copied on first access only. */
export class Removal implements ObjectChange {
  readonly type = 'delete'
  readonly revision: number
  readonly previous: StoredObject
  #object: StoredObject | undefined

  constructor(previous: StoredObject, revision: number) {
    this.previous = previous
    this.revision = revision
  }

  get object(): StoredObject {
    return (this.#object ??= this.previous.at(this.revision))
  }
}

/** The weight of a change in bytes, for the limits on stored and sent changes. */
export const weightOf = (change: ObjectChange): number =>
  (change.type === 'delete' && change.previous ? change.previous : change.object).size

/** The source of changes for watches. */
export interface ChangeFeed {
  /** All changes up to this revision have been delivered. */
  readonly revision: number
  /** Changes after `revision`, oldest first; undefined if they are no longer all in memory. */
  changesSince(revision: number): readonly ObjectChange[] | undefined
  /** Notifies `listener` of every change from now on. The returned function unsubscribes it. */
  subscribe(listener: ChangeListener): () => void
}

export interface ChangeListener {
  changes(batch: readonly ObjectChange[]): void
  /** The feed has ended, or `changes` threw. Nothing follows. */
  end(error: Error): void
}

/**
 * Returns an object in the form of a served resource: unchanged in its storage version, converted for other versions.
 */
export type View = (object: StoredObject) => StoredObject

/** A change in the form of a served resource. */
export function viewedChange(change: ObjectChange, resource: ServedResource, view: View): ObjectChange {
  if (resource.storage === resource && !resource.conversion) return change
  const { type, revision, previous } = change
  if (type === 'delete' && previous) return new Removal(view(previous), revision)
  return { type, revision, object: view(change.object), previous: previous && view(previous) }
}
