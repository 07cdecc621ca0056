/**
 * Keeps the revisions of a set: makes the one of its template, adopts those that nobody has, removes those that are too
 * many.
 */
import type { Caches } from '../../client/controller/controller.ts'
import { type ControllerRevision, controllerRevisions } from '../../client/kinds.ts'
import type { Resource } from '../../client/resource.ts'
import type { RestClient } from '../../client/rest/rest-client.ts'
import { jsonEqual } from '../../machinery/fields/json.ts'
import type { Selector } from '../../machinery/selectors/label-selector.ts'
import { claimable, claimed } from '../pods/owners/claim.ts'
import { isAlreadyExists, isNotFound } from '../refusals.ts'
import { byRevision, expendable, historyStep } from './history.ts'
import { type RevisedSet, type RevisionTerms, revisionOf } from './revision.ts'

/** The revisions of a set in order; those that nobody controls become its own. */
export async function revisionsOf<Set extends RevisedSet>(
  set: Set,
  sets: Resource<Set>,
  selector: Selector,
  { client, caches }: { readonly client: RestClient; readonly caches: Caches },
): Promise<ControllerRevision[]> {
  const selected = [...claimable(set, controllerRevisions, caches)].filter(({ metadata }) =>
    selector.matches(metadata.labels),
  )
  const revisions = await claimed(
    selected,
    { owner: set, owners: sets, resource: controllerRevisions, matches: () => true },
    client,
  )
  return revisions.sort(byRevision)
}

export interface LatestRevision {
  /** That of the template. */
  readonly latest: ControllerRevision
  /** All, in order. */
  readonly revisions: readonly ControllerRevision[]
  /** How often a name was taken, from the set's beginning. */
  readonly collisions: number | undefined
}

/**
 * Makes the newest revision that of the set's template. `revisions` are in order. Rejects with the server's refusals.
 */
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
      const made = await create(set, { hashLabel, number: step.number, collisions: collisions ?? 0 }, client)
      const count = made.collisions || collisions
      return { latest: made.revision, revisions: [...revisions, made.revision], collisions: count }
    }
    default:
      return step satisfies never
  }
}

interface MadeRevision {
  readonly revision: ControllerRevision
  readonly collisions: number
}

/** A name that another revision has leads to another name. */
async function create(set: RevisedSet, terms: RevisionTerms, client: RestClient): Promise<MadeRevision> {
  const wanted = revisionOf(set, terms)
  const { namespace = '', name = '' } = wanted.metadata
  try {
    return { revision: await client.create(controllerRevisions, wanted), collisions: terms.collisions }
  } catch (error) {
    if (!isAlreadyExists(error)) throw error
    const present = await client.get(controllerRevisions, namespace, name)
    // It was made before, and has not come back yet.
    if (jsonEqual(present.data, wanted.data)) return { revision: present, collisions: terms.collisions }
    return create(set, { ...terms, collisions: terms.collisions + 1 }, client)
  }
}

/** How many revisions beside those in use a set keeps, unless it says. */
export const historyLimit = ({ spec }: RevisedSet): number => spec?.revisionHistoryLimit ?? 10

/** Removes the oldest revisions that are not in use (by name), beyond a limit. */
export async function truncateHistory(
  revisions: readonly ControllerRevision[],
  inUse: ReadonlySet<string>,
  limit: number,
  client: RestClient,
): Promise<void> {
  for (const revision of expendable(revisions, inUse, limit)) await removeRevision(revision, client)
}

/** One that has gone already is as good. */
export async function removeRevision(
  { metadata: { namespace = '', name = '' } }: ControllerRevision,
  client: RestClient,
): Promise<void> {
  await client.delete(controllerRevisions, namespace, name).catch((error) => {
    if (!isNotFound(error)) throw error
  })
}
