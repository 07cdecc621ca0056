/** Makes of a value of the store the object that it holds. */
import type { ServedResource } from '../served-resource.ts'
import { StoredObject, type Summary, spliceRevision } from '../stored-object.ts'

/** A `hint` is what a write knows of the value: what was written here just now is in today's form. Throws a StatusError. */
export function readStored(resource: ServedResource, key: string, value: Buffer, revision: number, hint?: Summary): StoredObject {
  if (hint || !resource.readStored) return new StoredObject(resource, key, revision, spliceRevision(resource, value, revision), hint)
  const form = resource.readStored(value)
  const object = new StoredObject(form.resource, key, revision, spliceRevision(form.resource, form.value, revision))
  object.outdated = form.value !== value || form.resource !== resource
  return object
}
