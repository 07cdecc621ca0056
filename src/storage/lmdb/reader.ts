/** Reads versions of keys from the table `kv`. Synchronous: each call sees one state of the file. */
import type { ChangeEvent, Entry } from '../store.ts'
import { afterVersions, atRevision, decodeChanges, type LoggedChange, lowerBound, type Table, type VersionedKey } from './layout.ts'

/** A key's newest version that is not newer than `revision`; undefined if the key was absent. */
export function entryAt(kv: Table<VersionedKey>, key: string, revision: number): Entry | undefined {
  for (const { key: version, value } of kv.getRange({ start: atRevision(key, revision), end: afterVersions(key), limit: 1 })) {
    return version.deleted ? undefined : { key, value, revision: version.revision }
  }
  return undefined
}

/** A version that is known to exist. */
export function entryOf(kv: Table<VersionedKey>, key: string, revision: number): Entry | undefined {
  const value = kv.get({ key, revision, deleted: false })
  return value && { key, value, revision }
}

/** All keys that are there, with their newest revisions; undefined if the table has more than `most` versions. */
export function allKeys(kv: Table<VersionedKey>, most: number): Map<string, number> | undefined {
  const keys = new Map<string, number>()
  let last = ''
  let versions = 0
  for (const { key, revision, deleted } of kv.getKeys({ start: lowerBound('') })) {
    if (++versions > most) return undefined
    if (key === last) continue
    last = key
    if (!deleted) keys.set(key, revision)
  }
  return keys
}

export interface Slice {
  readonly from: Uint8Array
  readonly end: Uint8Array
  readonly revision: number
  /** 0: all. */
  readonly limit: number
}

/** Versions to step over before it is cheaper to seek. */
const maxSteps = 3
/** Versions between two looks at the clock. */
const stepsPerLook = 64

/**
 * Appends the entries of a range to `entries`, until the limit (`more` says whether there are others), the end, or `deadline`:
 * then `resume` is where to go on.
 */
export function readSlice(
  kv: Table<VersionedKey>,
  { from, end, revision, limit }: Slice,
  entries: Entry[],
  deadline: number,
): { more: boolean; resume?: Uint8Array } {
  let seek: Uint8Array | undefined = from
  let steps = 0
  while (seek) {
    let key = ''
    /** Whether `key` has been answered; until then its versions are too new. */
    let answered = false
    let skipped = 0
    const start: Uint8Array = seek
    seek = undefined
    for (const { key: version, value } of kv.getRange({ start, end })) {
      if (version.key !== key) {
        if (++steps % stepsPerLook === 0 && performance.now() >= deadline) return { more: true, resume: key === '' ? start : afterVersions(key) }
        key = version.key
        answered = false
        skipped = 0
      }
      if (!answered && version.revision <= revision) {
        answered = true
        skipped = 0
        if (version.deleted) continue
        if (limit > 0 && entries.length === limit) return { more: true }
        entries.push({ key, value, revision: version.revision })
      } else if (++skipped > maxSteps) {
        seek = answered ? afterVersions(key) : atRevision(key, revision)
        break
      }
    }
  }
  return { more: false }
}

/** The changes after `after` up to `until`, in order. */
export function* changesIn(kv: Table<VersionedKey>, log: Table<number>, after: number, until: number) {
  for (const { key: newest, value: record } of log.getRange({ start: after + 1 })) {
    if (newest > until) break
    for (const change of decodeChanges(record, after)) yield { key: change.key, revision: change.revision, event: () => eventOf(kv, change) }
  }
}

/** The event of a logged change; its values are read from the table. */
function eventOf(kv: Table<VersionedKey>, { key, revision, deleted, previousRevision }: LoggedChange): ChangeEvent {
  const previous = previousOf(kv, key, previousRevision)
  return deleted ? { type: 'delete', key, revision, previous } : { type: 'put', key, value: kv.get({ key, revision, deleted }), revision, previous }
}

export const previousOf = (kv: Table<VersionedKey>, key: string, revision: number): Entry | undefined => (revision > 0 ? entryOf(kv, key, revision) : undefined)
