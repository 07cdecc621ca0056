/** Where the claims of a StatefulSet's pods are looked up. */
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
 * Finds claims as the cache shows them, and as the server does where they go with one of `pods` that is about to be
 * taken away and the cache has none: a claim that is overlooked then belongs to nobody, and stays. Rejects with what
 * the server refuses.
 */
export async function claimFinder(
  set: StatefulSet,
  pods: readonly Pod[],
  { caches, client }: Pick<ReconcileContext, 'caches' | 'client'>,
): Promise<FindClaim> {
  const { namespace = '' } = set.metadata
  const cached: FindClaim = (name) => caches.get(persistentVolumeClaims, namespace, name)
  if (set.spec?.persistentVolumeClaimRetentionPolicy?.whenScaled !== 'Delete') return cached
  const unseen = new Map<string, PersistentVolumeClaim>()
  for (const pod of membersOf(set, pods).condemned) {
    if (isDeleted(pod)) continue
    for (const template of claimTemplates(set)) {
      const name = claimName(set, template, ordinalOf(set, pod) ?? -1)
      const claim = cached(name) ? undefined : await client.find(persistentVolumeClaims, namespace, name)
      if (claim) unseen.set(name, claim)
    }
  }
  return (name) => cached(name) ?? unseen.get(name)
}
