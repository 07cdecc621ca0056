/** Removes fields that the manager applied before, does not apply now, and that nobody else owns. */
import type { Steps } from '../../lib/flow/steps.ts'
import { difference, intersection, isEmpty, union } from '../../machinery/fields/field-set.ts'
import { fieldSetOf } from '../../machinery/fields/field-set-of.ts'
import { removeFields, withNamedFields } from '../../machinery/fields/remove-fields.ts'
import type { FieldsV1 } from '../../machinery/object.ts'
import type { StructType } from '../../machinery/schema.ts'
import type { Managed } from './managed-fields/managed.ts'

export interface Pruning {
  readonly type: StructType
  /** The fields that the manager owned before. */
  readonly last: FieldsV1
  /** All managers; the applying one with the fields it applies now. */
  readonly managed: Managed
}

/** Returns the merged object without the pruned fields; the same object if there are none. */
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
  const remaining = removeFields(merged, unwanted, type)
  yield
  // Only fields that the manager itself applied are removed, not unowned fields around them or those of updaters.
  const removed = difference(all, withNamedFields(fieldSetOf(remaining, type), type))
  yield
  return removeFields(merged, intersection(removed, before), type)
}
