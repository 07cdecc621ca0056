/**
 * Server-side apply (KEP-555): merges the applied fields into the object, removes fields that the manager no longer
 * applies, and reports a conflict for fields that other managers own unless forced.
 */
import { runSync, type Steps } from '../../lib/flow/steps.ts'
import { differenceBelow, emptySet, equalSets, isEmpty, sortFieldSet } from '../../machinery/fields/field-set.ts'
import { fieldSetOf } from '../../machinery/fields/field-set-of.ts'
import { jsonEqual } from '../../machinery/fields/json.ts'
import { mergeTyped } from '../../machinery/fields/merge-typed.ts'
import { typeErrors, typeErrorText } from '../../machinery/fields/validate-typed.ts'
import type { FieldsV1, KubeObject, ManagedFieldsEntry } from '../../machinery/object.ts'
import type { StructType } from '../../machinery/schema.ts'
import { badRequest, internal } from '../../machinery/status-error.ts'
import { type Conflicts, conflictError, conflictsOutside } from './conflict.ts'
import { fieldsOfLastApplied, updateLastApplied } from './last-applied.ts'
import { capUpdaters, decodeManaged, encodeManaged, identityOf, type Managed } from './managed-fields/managed.ts'
import {
  adaptToSchemas,
  Changes,
  comparable,
  findConflicts,
  resetSet,
  takeFromOthers,
  type WriteOptions,
  withoutUntracked,
} from './managed-fields/ownership.ts'
import { recordUpdate } from './managed-fields/track-update.ts'
import { prune } from './prune.ts'
import { fieldsOfShape } from './shapes/fields-of-shape.ts'

export interface Apply extends WriteOptions {
  /** The object as it is stored, in the version of `apiVersion`; undefined when applying creates it. */
  readonly live?: KubeObject
  /** The body, parsed but not decoded: missing fields stay missing. */
  readonly applied: unknown
  readonly kind: string
  readonly manager: string
  readonly force: boolean
  /** Empty or absent for the object itself. */
  readonly subresource?: string
  /** RFC 3339, in seconds. */
  readonly now: string
}

export interface Applied {
  /**
   * The object with its new managedFields; not decoded, without defaults. May share values with `live` and `applied`.
   */
  readonly object: KubeObject
  readonly managedFields: ManagedFieldsEntry[] | undefined
  /** True if anything but managedFields differs from `live`. */
  readonly changed: boolean
}

const kubectl = 'kubectl'
const beforeFirstApply = 'before-first-apply'

/**
 * Applies a body. Throws 400 for a body of another kind or with managedFields, 500 (as upstream) for one that does not
 * fit the schema, 409 with a cause per field for conflicts.
 */
export const applyPatch = (apply: Apply): Applied => runSync(applySteps(apply))

/** `applyPatch` in steps, so that large objects do not block the event loop. */
export function* applySteps(apply: Apply): Steps<Applied> {
  const { live, manager } = apply
  const applied = checkedBody(apply)
  yield
  const managed = yield* managersBefore(apply)
  yield
  let result = yield* attempt(apply, applied, managed, apply.force)
  if (result.conflicts.size > 0) {
    // kubectl may take over the fields of its client-side apply that nobody has changed since.
    const allowed = manager === kubectl && live ? fieldsOfLastApplied(live, apply) : emptySet
    const remaining = isEmpty(allowed) ? result.conflicts : conflictsOutside(result.conflicts, allowed)
    if (remaining.size > 0) throw conflictError(remaining)
    result = yield* attempt(apply, applied, managed, true)
  }
  yield
  capUpdaters(result.managed)
  const object = manager === kubectl ? updateLastApplied(result.object, applied) : result.object
  const managedFields = yield* encodeManaged(result.managed)
  const { managedFields: _, ...metadata } = object.metadata ?? {}
  return {
    object: { ...object, metadata: managedFields ? { ...metadata, managedFields } : metadata },
    managedFields,
    changed: object !== live,
  }
}

/** The body is not decoded yet: a value that is not a string counts as absent. */
const textOf = (value: unknown): string => (typeof value === 'string' ? value : '')

/** Returns the body if it is an object of the kind and fits its type. */
function checkedBody({ applied, kind, apiVersion, type }: Apply): KubeObject {
  const body = (
    typeof applied === 'object' && applied !== null && !Array.isArray(applied) ? applied : {}
  ) as Partial<KubeObject>
  const version = textOf(body.apiVersion)
  const given = textOf(body.kind)
  const groupVersion = version.includes('/') ? version : `/${version}`
  if (given !== kind || version !== apiVersion) throw badRequest(`invalid object type: ${groupVersion}, Kind=${given}`)
  const { namespace, name, managedFields } = body.metadata ?? {}
  if (managedFields !== undefined && managedFields !== null) throw badRequest('metadata.managedFields must be nil')
  const errors = typeErrors(body, type)
  if (errors.length)
    throw internal(
      `failed to create typed patch object (${textOf(namespace)}/${textOf(name)}; ${groupVersion}, ` +
        `Kind=${kind}): ${typeErrorText(errors)}`,
    )
  return body as KubeObject
}

/** The managers before the apply. Fields of an object without managers belong to `before-first-apply`. */
function* managersBefore({ live, ...written }: Apply): Steps<Managed> {
  const managed = yield* decodeManaged(live?.metadata.managedFields, live?.metadata.managedFields)
  if (managed.size === 0 && live) yield* recordUpdate(managed, { ...written, object: live, manager: beforeFirstApply })
  return yield* adaptToSchemas(managed, written)
}

interface Attempt {
  readonly object: KubeObject
  readonly managed: Managed
  /** Empty if forced. */
  readonly conflicts: Conflicts
}

const ownableSets = new WeakMap<FieldsV1, FieldsV1>()

/** The applied fields that a manager can own. Objects of one shape share `applied`, so the result is cached. */
function ownableFields(applied: FieldsV1): FieldsV1 {
  let fields = ownableSets.get(applied)
  if (!fields) ownableSets.set(applied, (fields = sortFieldSet(withoutUntracked(applied))))
  return fields
}

const appliedFields = (applied: KubeObject, type: StructType, resetFields: readonly string[] = []): Steps<FieldsV1> =>
  fieldsOfShape(applied, type, `applied ${resetFields.join()}`, function* () {
    const fields = fieldSetOf(applied, type)
    yield
    return differenceBelow(fields, resetSet(resetFields))
  })

function* attempt(apply: Apply, applied: KubeObject, before: Managed, force: boolean): Steps<Attempt> {
  const { live, type, apiVersion, manager: name, now, resetFields } = apply
  const managed: Managed = new Map(before)
  const manager = {
    name,
    operation: 'Apply',
    apiVersion,
    subresource: apply.subresource || undefined,
    time: now,
  } as const
  const self = identityOf(manager)
  const last = managed.get(self)
  const fields = yield* appliedFields(applied, type, resetFields)
  const own = ownableFields(fields)
  // A manager that applies the same fields with other values gives none up.
  const givesUp = last && !equalSets(own, last.fields)
  // The applier owns untracked fields (names and the like) during pruning only.
  managed.set(self, { ...manager, fields })
  yield
  const base = comparable(live) as KubeObject
  const together = mergeTyped(base, applied, type)
  yield
  const merged = givesUp ? yield* prune(together, { type, last: last.fields, managed }) : together
  yield
  const changes = new Changes(base, merged, apply)
  const conflicts = yield* findConflicts(managed, changes, self)
  if (!force && conflicts.size > 0) return { object: merged, managed, conflicts }
  yield* takeFromOthers(managed, changes, self)

  // Another order of items is a change, but changes no ownership.
  const same = live !== undefined && jsonEqual(base, merged)
  yield
  if (isEmpty(own)) managed.delete(self)
  else if (same && last && !givesUp && last.apiVersion === apiVersion) managed.set(self, last)
  else managed.set(self, { ...manager, fields: last && !givesUp ? last.fields : own })
  return { object: same ? live : merged, managed, conflicts: new Map() }
}
