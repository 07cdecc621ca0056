/** Makes of a value of the store the object that it holds. */
import type { ServedResource } from '../served-resource.ts'
import { StoredObject, type Summary, spliceRevision } from '../stored-object.ts'

/** What a write knows of the value that it commits. */
export interface Hint {
  readonly summary: Summary
  /** Whether its spec has passed the rules. */
  readonly validSpec: boolean
}

/** With a `hint` it was written here just now, and is in today's form. Throws a StatusError. */
export function readStored(
  resource: ServedResource,
  key: string,
  value: Buffer,
  revision: number,
  hint?: Hint,
): StoredObject {
  if (hint || !resource.readStored) {
    const object = new StoredObject(resource, key, revision, spliceRevision(resource, value, revision), hint?.summary)
    object.validSpec = hint?.validSpec ?? false
    return object
  }
  const form = resource.readStored(value)
  const object = new StoredObject(form.resource, key, revision, spliceRevision(form.resource, form.value, revision))
  object.outdated = form.value !== value || form.resource !== resource
  return object
}
