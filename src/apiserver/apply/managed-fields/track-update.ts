/**
 * Who owns what after a POST, PUT or PATCH (KEP-555): the manager comes to own what it changed, and others lose it.
 * Gives the new `metadata.managedFields`; the object itself is left alone.
 */
import { atOnce, type Steps } from '../../../lib/flow/pauses.ts'
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
import { Changes, knownToSchema, resetSet, takeFromOthers, type Written, withoutUntracked } from './ownership.ts'

export interface Update extends Written {
  /** The object as it is stored; undefined on create. */
  readonly live?: KubeObject
  /**
   * The object as it was decoded, defaults applied, before admission; with the managedFields that the client sent, if
   * any.
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
 * The entries that the object gets; undefined for none. Those of `live` come back by reference when nothing changes.
 */
export const trackUpdate = (update: Update): ManagedFieldsEntry[] | undefined => atOnce(trackSteps(update))

/** As above. Large objects are long work. */
export function* trackSteps(update: Update): Steps<ManagedFieldsEntry[] | undefined> {
  const { live, object, subresource } = update
  if (!live && !object.metadata.managedFields) return yield* recordCreate(update)
  const managed = yield* startingPoint(live?.metadata.managedFields, object.metadata.managedFields, !!subresource)
  // An object without managers gets none by updates: it was created without, or was asked to forget them.
  if (managed.size === 0 && live) return undefined
  yield
  yield* knownToSchema(managed, update)
  yield* recordUpdate(managed, update)
  capUpdaters(managed)
  return sameEntries(yield* encodeManaged(managed), live?.metadata.managedFields)
}

/** The one entry of a new object. */
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

/** What the write sets, as far as anybody can own it. */
function* changedFields(changes: Changes, apiVersion: string): Steps<FieldsV1> {
  const { added, modified } = changes.in(apiVersion)!
  yield
  return withoutUntracked(union(modified, added))
}

/** The managers before the write: those that the client sent, if they can be read, else those that are stored. */
function* startingPoint(
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

/** Adds to `managed` what the write of `update` does. */
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
  const { added, modified, removed } = changes.in(apiVersion)!
  const own = managed.get(identity)
  // What the manager changes and owns already stays where it is: a set that is as it was is known. An item that comes
  // to be there twice, or once again, is added and removed at once: it is the manager's.
  const changed = difference(union(union(modified, added), removed), fields)
  const left = differenceBelow(difference(own?.fields ?? emptySet, changed), resetSet(update.resetFields))
  if (!isEmpty(fields)) managed.set(identity, { ...manager, fields: joined(left, fields) })
  else if (own) setFields(managed, identity, own, left)
}

/** By a set: what was last joined to it. Objects made from one template have the same set, and are changed alike. */
const joins = new WeakMap<FieldsV1, { readonly fields: string; readonly set: FieldsV1 }>()

/** The fields of both, in order. */
function joined(set: FieldsV1, fields: FieldsV1): FieldsV1 {
  if (isEmpty(difference(fields, set))) return set
  const text = JSON.stringify(fields)
  const known = joins.get(set)
  if (known?.fields === text) return known.set
  const both = sortFieldSet(union(fields, set))
  joins.set(set, { fields: text, set: both })
  return both
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
