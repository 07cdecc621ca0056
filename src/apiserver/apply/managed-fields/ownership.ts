/** Moves the ownership of fields between managers on updates and applies (structured-merge-diff's Updater). */
import type { Steps } from '../../../lib/flow/steps.ts'
import { type Comparison, compare } from '../../../machinery/fields/compare.ts'
import {
  difference,
  differenceBelow,
  emptySet,
  fieldSet,
  intersection,
  isEmpty,
  leaf,
  union,
} from '../../../machinery/fields/field-set.ts'
import { reconcileFieldSet } from '../../../machinery/fields/reconcile.ts'
import type { FieldsV1 } from '../../../machinery/object.ts'
import type { StructType } from '../../../machinery/schema.ts'
import type { Conflicts } from '../conflict.ts'
import { type Managed, type Manager, setFields } from './managed.ts'

/** Another version of the resource: the fields of a managedFields entry are those of its own version. */
export interface OtherVersion {
  readonly type: StructType
  /** Returns a converted copy of the object; a Promise where a webhook converts. */
  readonly convert: (object: object) => object | Promise<object>
}

export interface WriteOptions {
  readonly type: StructType
  readonly apiVersion: string
  /**
   * Fields that the server resets on this path, dotted (`spec`, `metadata.ownerReferences`): this write gives nobody
   * their ownership.
   */
  readonly resetFields?: readonly string[]
  /**
   * Returns another version by its apiVersion; undefined drops the entries of that version, as upstream does for
   * removed versions. Without this function, the fields of all entries are those of `type`.
   */
  readonly otherVersion?: (apiVersion: string) => OtherVersion | undefined
}

const metadataLeaves = [
  'name',
  'namespace',
  'creationTimestamp',
  'selfLink',
  'uid',
  'clusterName',
  'generation',
  'managedFields',
  'resourceVersion',
]

/** Fields that no manager owns. */
const untracked: FieldsV1 = {
  'f:apiVersion': leaf,
  'f:kind': leaf,
  'f:metadata': Object.fromEntries([['.', leaf], ...metadataLeaves.map((name) => [`f:${name}`, leaf])]),
}

export const withoutUntracked = (fields: FieldsV1): FieldsV1 => difference(fields, untracked)

/** The object without managedFields, for comparisons. */
export function comparable(object: object | undefined): object {
  const { metadata } = (object ?? {}) as { metadata?: Record<string, unknown> }
  return metadata?.managedFields === undefined
    ? (object ?? {})
    : { ...object, metadata: { ...metadata, managedFields: undefined } }
}

const resetSets = new Map<string, FieldsV1>()

/** The dotted paths as a field set; cached. */
export function resetSet(paths: readonly string[] = []): FieldsV1 {
  if (paths.length === 0) return emptySet
  const key = paths.join()
  const known = resetSets.get(key)
  if (known) return known
  const set = fieldSet(...paths)
  resetSets.set(key, set)
  return set
}

const without = ({ added, modified, removed }: Comparison, reset: FieldsV1): Comparison =>
  isEmpty(reset)
    ? { added, modified, removed }
    : {
        added: differenceBelow(added, reset),
        modified: differenceBelow(modified, reset),
        removed: differenceBelow(removed, reset),
      }

/** Adapts the managers' fields to the current schema of their version; removes managers of removed versions. */
export function* adaptToSchemas(
  managed: Managed,
  { type, otherVersion, apiVersion: own }: WriteOptions,
): Steps<Managed> {
  for (const [identity, manager] of [...managed]) {
    const other = otherVersion && manager.apiVersion !== own ? otherVersion(manager.apiVersion) : { type }
    if (other) setFields(managed, identity, manager, reconcileFieldSet(manager.fields, other.type))
    else managed.delete(identity)
    yield
  }
  return managed
}

/** The changes of a write, compared in the version of each manager. */
export class Changes {
  readonly #before: object
  readonly #after: object
  readonly #written: WriteOptions
  readonly #comparisons = new Map<string, Comparison | undefined>()

  constructor(before: object | undefined, after: object, written: WriteOptions) {
    this.#before = comparable(before)
    this.#after = comparable(after)
    this.#written = written
  }

  /** Compares in the versions of these managers; must run before `inVersion`. */
  *compareVersionsOf(managed: Managed): Steps<void> {
    const { apiVersion: own, otherVersion } = this.#written
    if (!otherVersion) return
    for (const { apiVersion } of managed.values()) {
      if (apiVersion === own || this.#comparisons.has(apiVersion)) continue
      const other = otherVersion(apiVersion)
      if (!other) {
        this.#comparisons.set(apiVersion, undefined)
        continue
      }
      const before = other.convert(this.#before)
      const after = other.convert(this.#after)
      const compared = ([old, now]: readonly [object, object]): void => {
        this.#comparisons.set(apiVersion, this.#compare(old, now, other.type))
      }
      if (before instanceof Promise || after instanceof Promise) yield Promise.all([before, after]).then(compared)
      else {
        compared([before, after])
        yield
      }
    }
  }

  /** The changes in the written version or one that `compareVersionsOf` compared. Undefined for a removed version. */
  inVersion(apiVersion: string): Comparison | undefined {
    const { apiVersion: own, otherVersion, type } = this.#written
    const version = otherVersion ? apiVersion : own
    if (version === own && !this.#comparisons.has(own))
      this.#comparisons.set(own, this.#compare(this.#before, this.#after, type))
    return this.#comparisons.get(version)
  }

  #compare(before: object, after: object, type: StructType): Comparison {
    return without(compare(before, after, type), resetSet(this.#written.resetFields))
  }
}

/** The changed fields that other managers own. */
export function* findConflicts(managed: Managed, changes: Changes, self: string | undefined): Steps<Conflicts> {
  const conflicts = new Map<string, { manager: Manager; fields: FieldsV1 }>()
  yield* changes.compareVersionsOf(managed)
  for (const [identity, manager] of managed) {
    if (identity === self) continue
    const changed = changes.inVersion(manager.apiVersion)
    yield
    const fields =
      changed && union(intersection(manager.fields, changed.modified), intersection(manager.fields, changed.added))
    if (fields && !isEmpty(fields)) conflicts.set(identity, { manager, fields })
  }
  return conflicts
}

/** Removes changed and removed fields from all other managers, and the managers of removed versions. */
export function* takeFromOthers(managed: Managed, changes: Changes, self: string | undefined): Steps<void> {
  yield* changes.compareVersionsOf(managed)
  for (const [identity, manager] of [...managed]) {
    if (identity === self) continue
    const changed = changes.inVersion(manager.apiVersion)
    yield
    if (!changed) managed.delete(identity)
    else
      setFields(
        managed,
        identity,
        manager,
        difference(difference(difference(manager.fields, changed.modified), changed.added), changed.removed),
      )
  }
}
