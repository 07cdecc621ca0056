/**
 * Ownership of fields after a POST, PUT or PATCH (KEP-555): the manager owns the fields it changed, and others lose
 * them. Returns the new `metadata.managedFields`; does not change the object.
 */
import { runSync, type Steps } from '../../../lib/flow/steps.ts'
import {
  difference,
  differenceBelow,
  emptySet,
  isEmpty,
  sortFieldSet,
  union,
} from '../../../machinery/fields/field-set.ts'
import type { FieldsV1, KubeObject, ManagedFieldsEntry } from '../../../machinery/object.ts'
import { fieldsOfShape } from '../shapes/fields-of-shape.ts'
import { capUpdaters, decodeManaged, encodeManaged, identityOf, isReset, type Managed, setFields } from './managed.ts'
import { adaptToSchemas, Changes, resetSet, takeFromOthers, type WriteOptions, withoutUntracked } from './ownership.ts'

export interface Update extends WriteOptions {
  /** The object as it is stored; undefined on create. */
  readonly live?: KubeObject
  /**
   * The decoded object with defaults, before admission, with the managedFields that the client sent, if any.
   */
  readonly object: KubeObject
  /** See `managerName`. */
  readonly manager: string
  /** Empty or absent for the object itself. */
  readonly subresource?: string
  /** RFC 3339, in seconds. */
  readonly now: string
}

/**
 * Returns the new entries; undefined if there are none. Returns those of `live` by reference when nothing changes.
 */
export const trackUpdate = (update: Update): ManagedFieldsEntry[] | undefined => runSync(trackSteps(update))

/** `trackUpdate` in steps, so that large objects do not block the event loop. */
export function* trackSteps(update: Update): Steps<ManagedFieldsEntry[] | undefined> {
  const { live, object, subresource } = update
  if (!live && !object.metadata.managedFields) return yield* recordCreate(update)
  const managed = yield* managersBefore(live?.metadata.managedFields, object.metadata.managedFields, !!subresource)
  // Updates add no managers to an object without any: it was created without, or a client reset them.
  if (managed.size === 0 && live) return undefined
  yield
  yield* adaptToSchemas(managed, update)
  yield* recordUpdate(managed, update)
  capUpdaters(managed)
  return sameEntries(yield* encodeManaged(managed), live?.metadata.managedFields)
}

/** Returns the single entry of a new object. */
function* recordCreate(update: Update): Steps<ManagedFieldsEntry[] | undefined> {
  const { object, type, resetFields = [], apiVersion, manager: name, subresource, now: time } = update
  const fields = yield* fieldsOfShape(object, type, `created ${resetFields.join()}`, () =>
    changedFields(new Changes(undefined, object, update), apiVersion),
  )
  if (isEmpty(fields)) return undefined
  const manager = {
    name,
    operation: 'Update',
    apiVersion,
    subresource: subresource || undefined,
    time,
    fields,
  } as const
  return yield* encodeManaged(new Map([[identityOf(manager), manager]]))
}

/** The fields that the write sets and that a manager can own. */
function* changedFields(changes: Changes, apiVersion: string): Steps<FieldsV1> {
  const { added, modified } = changes.inVersion(apiVersion)!
  yield
  return withoutUntracked(union(modified, added))
}

/** The managers before the write: those that the client sent if they are readable, else the stored ones. */
function* managersBefore(
  live: readonly ManagedFieldsEntry[] | undefined,
  sent: readonly ManagedFieldsEntry[] | undefined,
  subresource: boolean,
): Steps<Managed> {
  if (!subresource && sent !== live) {
    if (isReset(sent)) return new Map()
    try {
      const managed = yield* decodeManaged(sent, live)
      if (managed.size > 0) return managed
    } catch {
      // Unreadable lists are ignored, so that no client can break the field by mistake.
    }
  }
  return yield* decodeManaged(live, live)
}

/** Updates `managed` with the changes of the write. */
export function* recordUpdate(managed: Managed, update: Update): Steps<void> {
  const { live, object, manager: name, apiVersion, now } = update
  const manager = {
    name,
    operation: 'Update',
    apiVersion,
    subresource: update.subresource || undefined,
    time: now,
  } as const
  const identity = identityOf(manager)
  const changes = new Changes(live, object, update)
  yield* takeFromOthers(managed, changes, identity)
  yield
  const fields = yield* changedFields(changes, apiVersion)
  yield
  const { added, modified, removed } = changes.inVersion(apiVersion)!
  const existing = managed.get(identity)
  // Changed fields that the manager owns already stay in place, so that an unchanged set keeps its identity. A
  // duplicated item (or one whose duplicate is removed) counts as both added and removed: the manager owns it.
  const changed = difference(union(union(modified, added), removed), fields)
  const remaining = differenceBelow(difference(existing?.fields ?? emptySet, changed), resetSet(update.resetFields))
  if (!isEmpty(fields)) managed.set(identity, { ...manager, fields: sortedUnion(remaining, fields) })
  else if (existing) setFields(managed, identity, existing, remaining)
}

/** Cache of the last join per set: objects of one template share the set and get the same changes. */
const sortedUnions = new WeakMap<FieldsV1, { readonly fields: string; readonly set: FieldsV1 }>()

/** The sorted union of both. */
function sortedUnion(set: FieldsV1, fields: FieldsV1): FieldsV1 {
  if (isEmpty(difference(fields, set))) return set
  const text = JSON.stringify(fields)
  const known = sortedUnions.get(set)
  if (known?.fields === text) return known.set
  const joined = sortFieldSet(union(fields, set))
  sortedUnions.set(set, { fields: text, set: joined })
  return joined
}

/** The stored list itself if the new one holds the same entries. */
function sameEntries(
  entries: ManagedFieldsEntry[] | undefined,
  live: ManagedFieldsEntry[] | undefined,
): ManagedFieldsEntry[] | undefined {
  return entries && live && entries.length === live.length && entries.every((entry, i) => entry === live[i])
    ? live
    : entries
}
