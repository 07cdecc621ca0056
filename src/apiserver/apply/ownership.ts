/** How a write moves fields between managers (structured-merge-diff's Updater), for updates and for apply alike. */
import type { Steps } from '../../lib/pauses.ts'
import { type Comparison, compare } from '../../machinery/fields/compare.ts'
import { difference, differenceBelow, emptySet, fieldSet, intersection, isEmpty, leaf, union } from '../../machinery/fields/field-set.ts'
import type { FieldsV1 } from '../../machinery/object.ts'
import type { StructType } from '../../machinery/schema.ts'
import type { Conflicts } from './conflict.ts'
import { type Managed, type Manager, setFields } from './managed.ts'

/** The same object in another version: entries of managedFields are about the fields of theirs. */
export interface OtherVersion {
  readonly type: StructType
  /** Returns a new object; the one given is not changed. */
  readonly convert: (object: object) => object
}

export interface Written {
  readonly type: StructType
  readonly apiVersion: string
  /** Fields that the server resets on this path, dotted (`spec`, `metadata.ownerReferences`): nobody comes to own them by this write. */
  readonly resetFields?: readonly string[]
  /**
   * Other versions that entries may be about; undefined drops such entries, as upstream does when a version is gone.
   * Without the function, entries of all versions are taken to be about the fields of `type`.
   */
  readonly otherVersion?: (apiVersion: string) => OtherVersion | undefined
}

const metadataLeaves = ['name', 'namespace', 'creationTimestamp', 'selfLink', 'uid', 'clusterName', 'generation', 'managedFields', 'resourceVersion']

/** What no manager ever owns. */
const untracked: FieldsV1 = {
  'f:apiVersion': leaf,
  'f:kind': leaf,
  'f:metadata': Object.fromEntries([['.', leaf], ...metadataLeaves.map((name) => [`f:${name}`, leaf])]),
}

export const withoutUntracked = (fields: FieldsV1): FieldsV1 => difference(fields, untracked)

/** The object as it is compared: managedFields themselves do not count. */
export function comparable(object: object | undefined): object {
  const { metadata } = (object ?? {}) as { metadata?: Record<string, unknown> }
  return metadata?.managedFields === undefined ? (object ?? {}) : { ...object, metadata: { ...metadata, managedFields: undefined } }
}

const resetSets = new Map<string, FieldsV1>()

/** The set of fields that a path of the API resets. */
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
    : { added: differenceBelow(added, reset), modified: differenceBelow(modified, reset), removed: differenceBelow(removed, reset) }

/** Compares the object before and after the write, as managers of each version see it. */
export class Changes {
  readonly #before: object
  readonly #after: object
  readonly #written: Written
  readonly #seen = new Map<string, Comparison | undefined>()

  constructor(before: object | undefined, after: object, written: Written) {
    this.#before = comparable(before)
    this.#after = comparable(after)
    this.#written = written
  }

  /** Undefined when the version is served no more. */
  in(apiVersion: string): Comparison | undefined {
    const { apiVersion: own, otherVersion } = this.#written
    const version = otherVersion ? apiVersion : own
    if (!this.#seen.has(version)) this.#seen.set(version, this.#compare(version))
    return this.#seen.get(version)
  }

  #compare(version: string): Comparison | undefined {
    const { type, apiVersion, resetFields, otherVersion } = this.#written
    const reset = resetSet(resetFields)
    if (version === apiVersion) return without(compare(this.#before, this.#after, type), reset)
    const other = otherVersion?.(version)
    return other && without(compare(other.convert(this.#before), other.convert(this.#after), other.type), reset)
  }
}

/** The fields that others own and that the write changes. */
export function* findConflicts(managed: Managed, changes: Changes, self: string | undefined): Steps<Conflicts> {
  const conflicts = new Map<string, { manager: Manager; fields: FieldsV1 }>()
  for (const [identity, manager] of managed) {
    if (identity === self) continue
    const seen = changes.in(manager.apiVersion)
    yield
    const fields = seen && union(intersection(manager.fields, seen.modified), intersection(manager.fields, seen.added))
    if (fields && !isEmpty(fields)) conflicts.set(identity, { manager, fields })
  }
  return conflicts
}

/** Takes from all others the fields that the write changes or removes. Managers of versions that are gone go too. */
export function* takeFromOthers(managed: Managed, changes: Changes, self: string | undefined): Steps<void> {
  for (const [identity, manager] of [...managed]) {
    if (identity === self) continue
    const seen = changes.in(manager.apiVersion)
    yield
    if (!seen) managed.delete(identity)
    else setFields(managed, identity, manager, difference(difference(difference(manager.fields, seen.modified), seen.added), seen.removed))
  }
}
