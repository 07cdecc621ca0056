/** Telling a write that changes nothing: times in managedFields do not count. */
import { equalSets } from '../../machinery/fields/field-set.ts'
import { jsonEqual } from '../../machinery/fields/json.ts'
import type { KubeObject, ManagedFieldsEntry } from '../../machinery/object.ts'

const sameEntry = (a: ManagedFieldsEntry, b: ManagedFieldsEntry): boolean =>
  a === b ||
  (a.manager === b.manager &&
    a.operation === b.operation &&
    a.apiVersion === b.apiVersion &&
    a.subresource === b.subresource &&
    equalSets(a.fieldsV1 ?? {}, b.fieldsV1 ?? {}))

/** Whether the lists differ in times at most. */
export const sameManagers = (a: readonly ManagedFieldsEntry[] = [], b: readonly ManagedFieldsEntry[] = []): boolean =>
  a === b || (a.length === b.length && a.every((entry, i) => sameEntry(entry, b[i]!)))

/**
 * Gives the object the managedFields of `old` if the two differ in nothing but times there, so that a write that changes
 * nothing stays none. Call it on the final object, after admission. Returns whether they are equal so.
 */
export function keepTimesIfUnchanged(object: KubeObject, old: KubeObject): boolean {
  if (!sameManagers(object.metadata.managedFields, old.metadata.managedFields)) return false
  const bare = ({ metadata, ...rest }: KubeObject): object => ({ ...rest, metadata: { ...metadata, managedFields: undefined, resourceVersion: undefined } })
  if (!jsonEqual(bare(object), bare(old))) return false
  if (old.metadata.managedFields) object.metadata.managedFields = old.metadata.managedFields
  else delete object.metadata.managedFields
  return true
}
