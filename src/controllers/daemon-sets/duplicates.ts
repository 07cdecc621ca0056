/** Deletes revisions equal to the newest one of a DaemonSet, after relabelling their pods to the newest one. */
import { type ControllerRevision, type DaemonSet, type Pod, pods } from '../../client/kinds.ts'
import type { RestClient } from '../../client/rest/rest-client.ts'
import { isNotFound } from '../api-errors.ts'
import { isRevisionOf } from '../histories/revision.ts'
import { removeRevision } from '../histories/revision-history.ts'
import { hashLabel } from './daemon-pod.ts'

/** The value of hashLabel on pods of a revision. */
export const hashOf = ({ metadata: { name = '', labels } }: ControllerRevision): string => labels?.[hashLabel] ?? name

/** Resolves with the remaining revisions. */
export async function withoutDuplicates(
  set: DaemonSet,
  { latest, revisions }: { readonly latest: ControllerRevision; readonly revisions: readonly ControllerRevision[] },
  members: readonly Pod[],
  client: RestClient,
): Promise<readonly ControllerRevision[]> {
  const duplicates = revisions.filter(
    (revision) => revision !== latest && isRevisionOf(revision, set.spec?.template ?? {}),
  )
  for (const duplicate of duplicates) {
    for (const { metadata } of members) {
      if (metadata.labels?.[hashLabel] !== hashOf(duplicate)) continue
      const patch = { metadata: { uid: metadata.uid, labels: { [hashLabel]: hashOf(latest) } } }
      await client.patch(pods, metadata.namespace ?? '', metadata.name ?? '', patch).catch((error) => {
        if (!isNotFound(error)) throw error
      })
    }
    await removeRevision(duplicate, client)
  }
  return revisions.filter((revision) => !duplicates.includes(revision))
}
