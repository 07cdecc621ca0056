/**
 * What becomes of a set's revisions: which is the newest, what number the next one has, and which are too many. Decides
 * only.
 */

import type { ControllerRevision } from '../../client/kinds.ts'
import { integer } from '../../lib/exact-json.ts'
import { isOf, type Template } from './revision.ts'

const createdAt = ({ metadata }: ControllerRevision): number => Date.parse(metadata.creationTimestamp ?? '') || 0

/** Older first. */
export const byRevision = (a: ControllerRevision, b: ControllerRevision): number =>
  Number(a.revision > b.revision) - Number(a.revision < b.revision) ||
  createdAt(a) - createdAt(b) ||
  ((a.metadata.name ?? '') < (b.metadata.name ?? '') ? -1 : 1)

export type HistoryStep =
  /** The newest revision is that of the template. */
  | { readonly do: 'keep'; readonly revision: ControllerRevision }
  /** An older one is: the set was brought back to it, so it becomes the newest. */
  | { readonly do: 'renumber'; readonly revision: ControllerRevision; readonly number: number }
  | { readonly do: 'create'; readonly number: number }

/** What has to be done so that the newest of `revisions`, which are in order, is that of the template. */
export function historyStep(revisions: readonly ControllerRevision[], template: Template): HistoryStep {
  const newest = revisions.at(-1)
  const number = integer(BigInt(newest?.revision ?? 0) + 1n) as number
  const same = revisions.findLast((revision) => isOf(revision, template))
  if (!same) return { do: 'create', number }
  return same === newest ? { do: 'keep', revision: same } : { do: 'renumber', revision: same, number }
}

/**
 * The oldest of `revisions`, which are in order, beyond `limit` of those that are not in use (by name). A negative
 * limit keeps all.
 */
export function expendable(
  revisions: readonly ControllerRevision[],
  inUse: ReadonlySet<string>,
  limit: number,
): readonly ControllerRevision[] {
  const past = revisions.filter(({ metadata }) => !inUse.has(metadata.name ?? ''))
  return limit < 0 ? [] : past.slice(0, Math.max(0, past.length - limit))
}
