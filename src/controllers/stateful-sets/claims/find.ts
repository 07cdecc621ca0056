/** Looks up the claims of a StatefulSet's pods. */
import type { ReconcileContext } from '../../../client/controller/controller.ts'
import {
  type PersistentVolumeClaim,
  type Pod,
  persistentVolumeClaims,
  type StatefulSet,
} from '../../../client/kinds.ts'
import { isDeleted, membersOf } from '../decisions/situation.ts'
import { ordinalOf } from '../identity.ts'
import type { FindClaim } from './changes.ts'
import { claimName, claimTemplates } from './claim.ts'

/**
 * Returns a look-up in the cache. Claims of surplus pods that the cache does not contain are read from the server if
 * they must be deleted with their pod: an overlooked one would have no owner and would remain. Rejects with the
 * server's error.
 */
export async function claimFinder(
  set: StatefulSet,
  pods: readonly Pod[],
  { caches, client }: Pick<ReconcileContext, 'caches' | 'client'>,
): Promise<FindClaim> {
  const { namespace = '' } = set.metadata
  const cached: FindClaim = (name) => caches.get(persistentVolumeClaims, namespace, name)
  if (set.spec?.persistentVolumeClaimRetentionPolicy?.whenScaled !== 'Delete') return cached
  const uncached = new Map<string, PersistentVolumeClaim>()
  for (const pod of membersOf(set, pods).condemned) {
    if (isDeleted(pod)) continue
    for (const template of claimTemplates(set)) {
      const name = claimName(set, template, ordinalOf(set, pod) ?? -1)
      const claim = cached(name) ? undefined : await client.find(persistentVolumeClaims, namespace, name)
      if (claim) uncached.set(name, claim)
    }
  }
  return (name) => cached(name) ?? uncached.get(name)
}
