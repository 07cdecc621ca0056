/** Decides about a set's revisions: the newest, the number of the next, and the surplus ones. Writes nothing. */

import type { ControllerRevision } from '../../client/kinds.ts'
import { integer } from '../../lib/exact-json.ts'
import { isRevisionOf, type Template } from './revision.ts'

const createdAt = ({ metadata }: ControllerRevision): number => Date.parse(metadata.creationTimestamp ?? '') || 0

/** Sorts by number, then oldest first. */
export const byRevision = (a: ControllerRevision, b: ControllerRevision): number =>
  Number(a.revision > b.revision) - Number(a.revision < b.revision) ||
  createdAt(a) - createdAt(b) ||
  ((a.metadata.name ?? '') < (b.metadata.name ?? '') ? -1 : 1)

export type HistoryStep =
  /** The newest revision matches the template. */
  | { readonly do: 'keep'; readonly revision: ControllerRevision }
  /** An older one matches, after a rollback: it becomes the newest. */
  | { readonly do: 'renumber'; readonly revision: ControllerRevision; readonly number: number }
  | { readonly do: 'create'; readonly number: number }

/** Returns the step that makes the newest revision match the template. `revisions` are sorted. */
export function historyStep(revisions: readonly ControllerRevision[], template: Template): HistoryStep {
  const newest = revisions.at(-1)
  const number = integer(BigInt(newest?.revision ?? 0) + 1n) as number
  const same = revisions.findLast((revision) => isRevisionOf(revision, template))
  if (!same) return { do: 'create', number }
  return same === newest ? { do: 'keep', revision: same } : { do: 'renumber', revision: same, number }
}

/**
 * The oldest unused revisions beyond `limit`. `revisions` are sorted; `inUse` are names. A negative limit keeps all.
 */
export function surplusRevisions(
  revisions: readonly ControllerRevision[],
  inUse: ReadonlySet<string>,
  limit: number,
): readonly ControllerRevision[] {
  const past = revisions.filter(({ metadata }) => !inUse.has(metadata.name ?? ''))
  return limit < 0 ? [] : past.slice(0, Math.max(0, past.length - limit))
}
