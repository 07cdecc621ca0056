/** Detects writes that change nothing. Times in managedFields do not count. */
import { equalSets } from '../../../machinery/fields/field-set.ts'
import { jsonEqual } from '../../../machinery/fields/json.ts'
import type { KubeObject, ManagedFieldsEntry } from '../../../machinery/object.ts'

const sameEntry = (a: ManagedFieldsEntry, b: ManagedFieldsEntry): boolean =>
  a === b ||
  (a.manager === b.manager &&
    a.operation === b.operation &&
    a.apiVersion === b.apiVersion &&
    a.subresource === b.subresource &&
    equalSets(a.fieldsV1 ?? {}, b.fieldsV1 ?? {}))

/** True if the lists are equal except for times. */
export const sameManagers = (a: readonly ManagedFieldsEntry[] = [], b: readonly ManagedFieldsEntry[] = []): boolean =>
  a === b || (a.length === b.length && a.every((entry, i) => sameEntry(entry, b[i]!)))

/**
 * True if the two are equal except for times in managedFields: then nothing is written. `object` is the final one,
 * after admission.
 */
export function isUnchanged(object: KubeObject, old: KubeObject): boolean {
  if (!sameManagers(object.metadata.managedFields, old.metadata.managedFields)) return false
  const bare = ({ metadata, ...rest }: KubeObject): object => ({
    ...rest,
    metadata: { ...metadata, managedFields: undefined, resourceVersion: undefined },
  })
  return jsonEqual(bare(object), bare(old))
}
