/**
 * Decoded `metadata.managedFields`: managers by identity. An unchanged manager is encoded as the entry it was read
 * from.
 */
import { runSync, type Steps } from '../../../lib/flow/steps.ts'
import {
  emptySet,
  isEmpty,
  markSorted,
  parseFieldsV1,
  sortFieldSet,
  union,
} from '../../../machinery/fields/field-set.ts'
import { jsonEqual } from '../../../machinery/fields/json.ts'
import type { FieldsV1, ManagedFieldsEntry } from '../../../machinery/object.ts'

export interface Manager {
  readonly name: string
  readonly operation: 'Apply' | 'Update'
  readonly apiVersion: string
  readonly subresource: string | undefined
  readonly time: string | undefined
  readonly fields: FieldsV1
  /** The entry this was read from, as long as it is unchanged. */
  readonly source?: ManagedFieldsEntry
}

/** Managers by identity. */
export type Managed = Map<string, Manager>

/**
 * The identity of a manager. The identity of an applier does not depend on its version. Conflicts are sorted by this
 * text.
 */
export function identityOf({
  name,
  operation,
  apiVersion,
  subresource,
}: Pick<Manager, 'name' | 'operation' | 'apiVersion' | 'subresource'>): string {
  const version = operation === 'Update' ? `,"apiVersion":${JSON.stringify(apiVersion)}` : ''
  const manager = name ? `"manager":${JSON.stringify(name)},` : ''
  return (
    `{${manager}"operation":"${operation}"${version}` +
    `${subresource ? `,"subresource":${JSON.stringify(subresource)}` : ''}}`
  )
}

/**
 * Decodes entries. Throws an Error that describes the first invalid entry. Entries equal to those in `trusted` are not
 * validated.
 */
export function* decodeManaged(
  entries: readonly ManagedFieldsEntry[] | undefined,
  trusted: readonly ManagedFieldsEntry[] = [],
): Steps<Managed> {
  const managed: Managed = new Map()
  for (const [i, entry] of (entries ?? []).entries()) {
    const stored = trusted[i]
    const manager = stored && jsonEqual(entry, stored) ? decodeTrustedEntry(stored) : yield* decodeEntry(entry, i)
    managed.set(identityOf(manager), manager)
    yield
  }
  return managed
}

/** Returns the fault of managedFields that a webhook or client wrote; undefined if they are valid. */
export function managedFieldsFault(entries: unknown): string | undefined {
  if (entries === undefined || entries === null) return undefined
  if (!Array.isArray(entries)) return 'it is no list'
  try {
    runSync(decodeManaged(entries))
    return undefined
  } catch (error) {
    return error instanceof Error ? error.message : String(error)
  }
}

const decodeTrustedEntry = (source: ManagedFieldsEntry): Manager => ({
  ...managerOf(source),
  fields: storedFields(source),
  source,
})

/** Stored fields are sorted already. */
const storedFields = ({ fieldsV1 }: ManagedFieldsEntry): FieldsV1 => (fieldsV1 ? markSorted(fieldsV1) : emptySet)

function* decodeEntry(entry: ManagedFieldsEntry, i: number): Steps<Manager> {
  checkEntry(entry, i)
  return { ...managerOf(entry), fields: yield* readFields(entry.fieldsV1) }
}

const managerOf = ({ manager = '', operation = 'Update', apiVersion = '', subresource, time }: ManagedFieldsEntry) => ({
  name: manager,
  operation,
  apiVersion,
  subresource: subresource || undefined,
  time,
})

/** Decodes the field set of an entry, sorted as Go does; an absent set is empty. */
function* readFields(fields: FieldsV1 | undefined): Steps<FieldsV1> {
  if (!fields) return emptySet
  const parsed = parseFieldsV1(fields)
  yield
  return sortFieldSet(parsed)
}

function checkEntry({ operation, apiVersion, fieldsType }: ManagedFieldsEntry, i: number): void {
  if (operation !== 'Apply' && operation !== 'Update') throw new Error('operation must be `Apply` or `Update`')
  if (!apiVersion) throw new Error('apiVersion must not be empty')
  if (!fieldsType) throw new Error(`missing fieldsType in managed fields entry ${i}`)
  if (fieldsType !== 'FieldsV1')
    throw new Error(`invalid fieldsType ${JSON.stringify(fieldsType)} in managed fields entry ${i}`)
}

/** True if a client resets all managers: the list is empty, or holds one empty entry. */
export function isReset(entries: readonly ManagedFieldsEntry[] | null | undefined): boolean {
  if (!entries) return false
  return (
    entries.length === 0 ||
    (entries.length === 1 && Object.values(entries[0] ?? {}).every((value) => value === undefined || value === null))
  )
}

const seconds = (time: string | undefined): number => (time ? Math.floor(Date.parse(time) / 1000) : 0)
const compareTexts = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0)

/**
 * Encodes managers as entries in upstream's order: appliers first, then by time, name, version, subresource. Undefined
 * without managers.
 */
export function* encodeManaged(managed: Managed): Steps<ManagedFieldsEntry[] | undefined> {
  if (managed.size === 0) return undefined
  const managers = [...managed.values()]
  if (managers.length > 1)
    managers.sort(
      (a, b) =>
        compareTexts(a.operation, b.operation) ||
        seconds(a.time) - seconds(b.time) ||
        compareTexts(a.name, b.name) ||
        compareTexts(a.apiVersion, b.apiVersion) ||
        compareTexts(a.subresource ?? '', b.subresource ?? ''),
    )
  const entries: ManagedFieldsEntry[] = []
  for (const manager of managers) {
    entries.push(encodeEntry(manager))
    yield
  }
  return entries
}

function encodeEntry({ name, operation, apiVersion, time, fields, subresource, source }: Manager): ManagedFieldsEntry {
  if (source) return source
  return {
    ...(name && { manager: name }),
    operation,
    apiVersion,
    ...(time && { time }),
    fieldsType: 'FieldsV1',
    fieldsV1: sortFieldSet(fields),
    ...(subresource && { subresource }),
  }
}

/** Sets the fields of a manager; removes a manager without fields. */
export function setFields(managed: Managed, identity: string, manager: Manager, fields: FieldsV1): void {
  if (isEmpty(fields)) managed.delete(identity)
  else if (fields !== manager.fields) managed.set(identity, { ...manager, fields, source: undefined })
}

const maxUpdaters = 10
const bucketName = 'ancient-changes'

/** Merges the oldest Update managers of a version into one when there are more than ten. */
export function capUpdaters(managed: Managed): void {
  const updaters = [...managed].filter(([, { operation }]) => operation === 'Update')
  let count = updaters.length
  if (count <= maxUpdaters) return
  updaters.sort(([x, a], [y, b]) => seconds(a.time) - seconds(b.time) || compareTexts(x, y))
  const firstOf = new Map<string, string>()
  for (const [identity, manager] of updaters) {
    if (count <= maxUpdaters) return
    const { apiVersion } = manager
    const first = firstOf.get(apiVersion)
    if (first === undefined) {
      firstOf.set(apiVersion, identity)
      continue
    }
    const bucket: Manager = {
      name: bucketName,
      operation: 'Update',
      apiVersion,
      subresource: undefined,
      time: manager.time,
      fields: emptySet,
    }
    const bucketIdentity = identityOf(bucket)
    const existing = managed.get(bucketIdentity) ?? managed.get(first)
    if (!managed.has(bucketIdentity)) managed.delete(first)
    managed.delete(identity)
    managed.set(bucketIdentity, { ...bucket, fields: union(manager.fields, existing?.fields ?? emptySet) })
    count--
  }
}
