/** Plans the next step of a volume. Pure function of the volume and the claim that it references. */

import { deletionFinalizer, has, provisionedBy } from '../../../../api/core/storage/binding/annotations.ts'
import { sameVolumeMode } from '../../../../api/core/storage/binding/matching.ts'
import type { PersistentVolume, PersistentVolumeClaim } from '../../../../client/kinds.ts'

export type VolumePlan =
  | { readonly step: 'phase'; readonly phase: 'Available' | 'Bound' }
  /** Its claim was deleted: it becomes Released and its reclaim policy applies. */
  | { readonly step: 'release' }
  /** Its claim is bound to another volume. */
  | { readonly step: 'unbind' }
  /** It is reserved for a claim with another volume mode. */
  | { readonly step: 'mismatch'; readonly claim: PersistentVolumeClaim }
  /** The claim is not bound to it yet. */
  | { readonly step: 'reconcile claim' }

/** `claim`: the existing claim of the name that the volume references. */
export function planVolume(volume: PersistentVolume, claim: PersistentVolumeClaim | undefined): VolumePlan {
  const owner = volume.spec?.claimRef
  // Reserved for a claim by name only: available to it.
  if (!owner?.uid) return { step: 'phase', phase: 'Available' }
  if (claim?.metadata.uid !== owner.uid) return { step: 'release' }
  const bound = claim?.spec?.volumeName
  if (!claim || bound === volume.metadata.name) return { step: 'phase', phase: 'Bound' }
  // Deleted before its claim was bound: the claim would never bind to a deleted volume, and would block its deletion.
  if (!bound && volume.metadata.deletionTimestamp) return { step: 'unbind' }
  if (!bound) return sameVolumeMode(volume, claim) ? { step: 'reconcile claim' } : { step: 'mismatch', claim }
  // Provisioned for this claim, which was bound to another volume: not usable for others.
  const isProvisioned = has(volume, provisionedBy) && volume.spec?.persistentVolumeReclaimPolicy === 'Delete'
  return isProvisioned ? { step: 'release' } : { step: 'unbind' }
}

const inTree = 'kubernetes.io/'

/** Returns the finalizers of an in-tree volume: one while its policy is Delete. Undefined if they are correct. */
export function finalizersFor(volume: PersistentVolume): string[] | undefined {
  const { finalizers = [], annotations } = volume.metadata
  if (!annotations?.[provisionedBy]?.startsWith(inTree)) return undefined
  const isHeld = finalizers.includes(deletionFinalizer)
  if (volume.spec?.persistentVolumeReclaimPolicy === 'Delete')
    return isHeld || volume.metadata.deletionTimestamp ? undefined : [...finalizers, deletionFinalizer]
  return isHeld ? finalizers.filter((name) => name !== deletionFinalizer) : undefined
}
