/** Changes of a resource's objects, as watches see them. */
import type { ServedResource } from '../served-resource.ts'
import type { StoredObject } from '../stored-object.ts'

/** For a delete, `object` is the last state under the revision of the delete. */
export interface ObjectChange {
  readonly type: 'put' | 'delete'
  readonly revision: number
  readonly object: StoredObject
  readonly previous: StoredObject | undefined
}

/** The removal of an object. Its last state is copied only if somebody looks at it. */
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

/** What a change weighs where changes are kept or sent, in bytes. */
export const weightOf = (change: ObjectChange): number =>
  (change.type === 'delete' && change.previous ? change.previous : change.object).size

/** Where watches hear of changes. */
export interface ChangeFeed {
  /** All changes up to here have been told. */
  readonly revision: number
  /** Changes after `revision`, oldest first; undefined if they are no longer all in memory. */
  changesSince(revision: number): readonly ObjectChange[] | undefined
  /** Tells `listener` every change from now on. The returned function ends that. */
  subscribe(listener: ChangeListener): () => void
}

export interface ChangeListener {
  changes(batch: readonly ObjectChange[]): void
  /** The feed is over, or `changes` threw. Nothing follows. */
  end(error: Error): void
}

/** The objects as a served resource shows them: itself for its own, converted for other versions. */
export type View = (object: StoredObject) => StoredObject

/** A change as a served resource shows it. */
export function viewedChange(change: ObjectChange, resource: ServedResource, view: View): ObjectChange {
  if (resource.storage === resource && !resource.conversion) return change
  const { type, revision, previous } = change
  if (type === 'delete' && previous) return new Removal(view(previous), revision)
  return { type, revision, object: view(change.object), previous: previous && view(previous) }
}
