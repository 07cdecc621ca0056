/** What a volume needs next: a pure function of it and of the claim that it names. */

import { deletionFinalizer, has, provisionedBy } from '../../../api/core/storage/binding/annotations.ts'
import { sameVolumeMode } from '../../../api/core/storage/binding/matching.ts'
import type { PersistentVolume, PersistentVolumeClaim } from '../../../client/kinds.ts'

export type VolumePlan =
  | { readonly step: 'phase'; readonly phase: 'Available' | 'Bound' }
  /** Its claim is gone: it is Released, and its reclaim policy says what follows. */
  | { readonly step: 'release' }
  /** Its claim has another volume. */
  | { readonly step: 'unbind' }
  /** It is kept for a claim that wants the other volume mode. */
  | { readonly step: 'mismatch'; readonly claim: PersistentVolumeClaim }
  /** The claim has not found it yet. */
  | { readonly step: 'look at claim' }

/** `claim`: the one that the volume names, if there is one of that name. */
export function planVolume(volume: PersistentVolume, claim: PersistentVolumeClaim | undefined): VolumePlan {
  const owner = volume.spec?.claimRef
  // Kept for a claim by its name: still to be had by it.
  if (!owner?.uid) return { step: 'phase', phase: 'Available' }
  if (claim?.metadata.uid !== owner.uid) return { step: 'release' }
  const bound = claim?.spec?.volumeName
  if (!claim || bound === volume.metadata.name) return { step: 'phase', phase: 'Bound' }
  // It goes before its claim has found it: the claim takes none that is deleted, and would hold it for ever.
  if (!bound && volume.metadata.deletionTimestamp) return { step: 'unbind' }
  if (!bound) return sameVolumeMode(volume, claim) ? { step: 'look at claim' } : { step: 'mismatch', claim }
  // Made for this claim, which found another one: nobody else has a use for it.
  const wasMade = has(volume, provisionedBy) && volume.spec?.persistentVolumeReclaimPolicy === 'Delete'
  return wasMade ? { step: 'release' } : { step: 'unbind' }
}

const inTree = 'kubernetes.io/'

/**
 * The finalizers of a volume whose provisioner is in here (`isOurs`): it is held exactly as long as its policy is
 * Delete. Undefined where they are right.
 */
export function finalizersFor(volume: PersistentVolume): string[] | undefined {
  const { finalizers = [], annotations } = volume.metadata
  if (!annotations?.[provisionedBy]?.startsWith(inTree)) return undefined
  const isHeld = finalizers.includes(deletionFinalizer)
  if (volume.spec?.persistentVolumeReclaimPolicy === 'Delete')
    return isHeld || volume.metadata.deletionTimestamp ? undefined : [...finalizers, deletionFinalizer]
  return isHeld ? finalizers.filter((name) => name !== deletionFinalizer) : undefined
}
