/** Taking out of an applied object what its manager applied before, does not apply now, and nobody else owns. */
import type { Steps } from '../../lib/flow/pauses.ts'
import { difference, intersection, isEmpty, union } from '../../machinery/fields/field-set.ts'
import { fieldSetOf } from '../../machinery/fields/field-set-of.ts'
import { removeFields, withNamedFields } from '../../machinery/fields/remove-fields.ts'
import type { FieldsV1 } from '../../machinery/object.ts'
import type { StructType } from '../../machinery/schema.ts'
import type { Managed } from './managed-fields/managed.ts'

export interface Pruning {
  readonly type: StructType
  /** What the manager owned before. */
  readonly last: FieldsV1
  /** All managers, the applying one with what it applies now. */
  readonly managed: Managed
}

/** The merged object without what nobody wants any more; itself if nothing goes. */
export function* prune<T extends object>(merged: T, { type, last, managed }: Pruning): Steps<T> {
  let owned: FieldsV1 = {}
  for (const { fields } of managed.values()) {
    owned = union(owned, fields)
    yield
  }
  if (isEmpty(difference(last, owned))) return merged
  yield
  const before = withNamedFields(last, type)
  const all = withNamedFields(fieldSetOf(merged, type), type)
  yield
  const bare = removeFields(merged, before, type)
  yield
  const unwanted = difference(all, union(withNamedFields(fieldSetOf(bare, type), type), withNamedFields(owned, type)))
  yield
  const kept = removeFields(merged, unwanted, type)
  yield
  // Only what the manager itself applied may go: what lies around it, unowned or owned by updates, comes back.
  const gone = difference(all, withNamedFields(fieldSetOf(kept, type), type))
  yield
  return removeFields(merged, intersection(gone, before), type)
}
