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
export const weightOf = (change: ObjectChange): number => (change.type === 'delete' && change.previous ? change.previous : change.object).bytes.length

/** The objects as a served resource shows them: itself for its own, converted for other versions. */
export type View = (object: StoredObject) => StoredObject

/** A change as a served resource shows it. */
export const viewedChange = (change: ObjectChange, resource: ServedResource, view: View): ObjectChange =>
  resource.storage === resource
    ? change
    : { type: change.type, revision: change.revision, object: view(change.object), previous: change.previous && view(change.previous) }
