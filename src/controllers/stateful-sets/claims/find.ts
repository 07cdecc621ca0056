/** Where the claims of a StatefulSet's pods are looked up. */
import type { ReconcileContext } from '../../../client/controller/controller.ts'
import { type PersistentVolumeClaim, type Pod, persistentVolumeClaims, type StatefulSet } from '../../../client/kinds.ts'
import { ordinalOf } from '../identity.ts'
import type { FindClaim } from './changes.ts'
import { claimName, claimTemplates } from './claim.ts'

/**
 * Finds claims as the cache shows them, and as the server does where they go with one of `condemned` and the cache has none: a claim that
 * is overlooked when its pod is taken away belongs to nobody then, and stays. Rejects with what the server refuses.
 */
export async function claimFinder(
  set: StatefulSet,
  condemned: readonly Pod[],
  { caches, client }: Pick<ReconcileContext, 'caches' | 'client'>,
): Promise<FindClaim> {
  const { namespace = '' } = set.metadata
  const cached: FindClaim = (name) => caches.get(persistentVolumeClaims, namespace, name)
  const unseen = new Map<string, PersistentVolumeClaim>()
  if (set.spec?.persistentVolumeClaimRetentionPolicy?.whenScaled !== 'Delete') return cached
  for (const pod of condemned) {
    for (const template of claimTemplates(set)) {
      const name = claimName(set, template, ordinalOf(set, pod) ?? -1)
      const claim = cached(name) ? undefined : await client.find(persistentVolumeClaims, namespace, name)
      if (claim) unseen.set(name, claim)
    }
  }
  return (name) => cached(name) ?? unseen.get(name)
}
