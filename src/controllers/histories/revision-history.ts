/** Maintains the revisions of a set: creates that of its template, adopts orphans, deletes surplus ones. */
import type { Caches } from '../../client/controller/controller.ts'
import { type ControllerRevision, controllerRevisions } from '../../client/kinds.ts'
import type { Resource } from '../../client/resource.ts'
import type { RestClient } from '../../client/rest/rest-client.ts'
import { jsonEqual } from '../../machinery/fields/json.ts'
import type { Selector } from '../../machinery/selectors/label-selector.ts'
import { isAlreadyExists, isNotFound } from '../api-errors.ts'
import { claimCandidates, claimObjects } from '../pods/owners/claim.ts'
import { byRevision, historyStep, surplusRevisions } from './history.ts'
import { type RevisedSet, type RevisionOptions, revisionOf } from './revision.ts'

/** Returns the sorted revisions of a set; adopts matching orphans. */
export async function revisionsOf<Set extends RevisedSet>(
  set: Set,
  sets: Resource<Set>,
  selector: Selector,
  { client, caches }: { readonly client: RestClient; readonly caches: Caches },
): Promise<ControllerRevision[]> {
  const selected = [...claimCandidates(set, controllerRevisions, caches)].filter(({ metadata }) =>
    selector.matches(metadata.labels),
  )
  const revisions = await claimObjects(
    selected,
    { owner: set, owners: sets, resource: controllerRevisions, matches: () => true },
    client,
  )
  return revisions.sort(byRevision)
}

export interface LatestRevision {
  /** The revision of the template. */
  readonly latest: ControllerRevision
  /** All revisions, sorted. */
  readonly revisions: readonly ControllerRevision[]
  /** Number of name collisions since the set was created. */
  readonly collisions: number | undefined
}

/** Makes the newest revision match the set's template. `revisions` are sorted. Rejects with the server's errors. */
export async function latestRevision(
  set: RevisedSet,
  revisions: readonly ControllerRevision[],
  hashLabel: string,
  client: RestClient,
): Promise<LatestRevision> {
  const collisions = set.status?.collisionCount
  const step = historyStep(revisions, set.spec?.template ?? {})
  switch (step.do) {
    case 'keep':
      return { latest: step.revision, revisions, collisions }
    case 'renumber': {
      const latest = await client.update(controllerRevisions, { ...step.revision, revision: step.number })
      return { latest, revisions: [...revisions.filter((revision) => revision !== step.revision), latest], collisions }
    }
    case 'create': {
      const created = await create(set, { hashLabel, number: step.number, collisions: collisions ?? 0 }, client)
      const count = created.collisions || collisions
      return { latest: created.revision, revisions: [...revisions, created.revision], collisions: count }
    }
    default:
      return step satisfies never
  }
}

interface CreatedRevision {
  readonly revision: ControllerRevision
  readonly collisions: number
}

/** Creates a revision; on a name collision retries with another name. */
async function create(set: RevisedSet, terms: RevisionOptions, client: RestClient): Promise<CreatedRevision> {
  const desired = revisionOf(set, terms)
  const { namespace = '', name = '' } = desired.metadata
  try {
    return { revision: await client.create(controllerRevisions, desired), collisions: terms.collisions }
  } catch (error) {
    if (!isAlreadyExists(error)) throw error
    const existing = await client.get(controllerRevisions, namespace, name)
    // Created by an earlier reconcile and not yet in the cache.
    if (jsonEqual(existing.data, desired.data)) return { revision: existing, collisions: terms.collisions }
    return create(set, { ...terms, collisions: terms.collisions + 1 }, client)
  }
}

/** The number of unused revisions that a set retains. */
export const historyLimit = ({ spec }: RevisedSet): number => spec?.revisionHistoryLimit ?? 10

/** Deletes the oldest revisions beyond `limit` that are not in use (by name). */
export async function truncateHistory(
  revisions: readonly ControllerRevision[],
  inUse: ReadonlySet<string>,
  limit: number,
  client: RestClient,
): Promise<void> {
  for (const revision of surplusRevisions(revisions, inUse, limit)) await removeRevision(revision, client)
}

/** Deletes a revision; ignores one that is already deleted. */
export async function removeRevision(
  { metadata: { namespace = '', name = '' } }: ControllerRevision,
  client: RestClient,
): Promise<void> {
  await client.delete(controllerRevisions, namespace, name).catch((error) => {
    if (!isNotFound(error)) throw error
  })
}
