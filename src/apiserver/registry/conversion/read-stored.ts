/** Turns a value from the store into the object that it holds. */
import type { ServedResource } from '../served-resource.ts'
import { StoredObject, type Summary, spliceRevision } from '../stored-object.ts'

/** Facts that a write knows about the value that it commits. */
export interface Hint {
  readonly summary: Summary
  /** True if its spec has passed validation. */
  readonly validSpec: boolean
}

/** Reads a value. A `hint` means that this server has just written it, in the current form. Throws a StatusError. */
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
