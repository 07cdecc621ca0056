/**
 * Changes that a late watch has not received yet, in portions: from memory if that reaches far enough, otherwise from
 * the store's history.
 */
import { expired } from '../../../../machinery/status-error.ts'
import { CompactedError, type KeyRange, type PortionSize, type Store } from '../../../../storage/store.ts'
import type { CacheView } from '../cache-view.ts'
import { type ObjectChange, Removal, weightOf } from '../object-change.ts'

/** The maximum that is encoded and buffered for a client at a time. */
export const portionSize: PortionSize = { events: 500, bytes: 512 * 1024 }

export interface ObjectChanges {
  readonly changes: readonly ObjectChange[]
  /** All changes up to this revision are included here or came before. */
  readonly through: number
}

/**
 * The next changes of a range after `revision`, which is not the newest. Rejects with a 410 StatusError if history no
 * longer reaches it.
 */
export async function changesAfter(
  view: CacheView,
  store: Store,
  range: KeyRange,
  revision: number,
): Promise<ObjectChanges> {
  const recent = view.changesSince(revision)
  if (recent) return first(recent, view.revision)
  try {
    const { events, through } = await store.changes(range, revision, portionSize)
    const changes: ObjectChange[] = []
    for (const { type, key, value, revision, previous } of events) {
      const before = previous && view.objectOf(key, previous.value, previous.revision)
      if (type === 'put')
        changes.push({ type, revision, object: view.objectOf(key, value!, revision), previous: before })
      else if (before) changes.push(new Removal(before, revision))
    }
    return { changes, through }
  } catch (error) {
    if (error instanceof CompactedError)
      throw expired(`too old resource version: ${revision} (${error.compactedRevision})`)
    throw error
  }
}

/** Returns true if the changes fit into one portion. */
export const isOnePortion = (changes: readonly ObjectChange[]): boolean => endOfPortion(changes) === changes.length

/** The first portion of changes that go up to revision `newest`. */
function first(changes: readonly ObjectChange[], newest: number): ObjectChanges {
  const end = endOfPortion(changes)
  if (end === changes.length) return { changes, through: newest }
  return { changes: changes.slice(0, end), through: changes[end - 1]!.revision }
}

/** The index after the last whole revision that fits into a portion. */
function endOfPortion(changes: readonly ObjectChange[]): number {
  let bytes = 0
  let end = 0
  while (end < changes.length && end < portionSize.events && bytes < portionSize.bytes)
    bytes += weightOf(changes[end++]!)
  while (end < changes.length && changes[end]!.revision === changes[end - 1]!.revision) end++
  return end
}
