/** Indexes by which volumes and claims find each other. */
import { claimClass, namesClass, volumeClass } from '../../../api/core/storage/binding/storage-class.ts'
import type { PersistentVolume, PersistentVolumeClaim, Pod } from '../../../client/kinds.ts'
import { claimsOfPod } from '../pod-claims.ts'

/** The key of the claim that a volume references. */
export const claimKey = ({ spec }: PersistentVolume): string | undefined =>
  spec?.claimRef ? `${spec.claimRef.namespace ?? ''}/${spec.claimRef.name ?? ''}` : undefined

/** Index function: volumes by referenced claim. */
export function volumesByClaim(volume: PersistentVolume): readonly string[] {
  const key = claimKey(volume)
  return key === undefined ? [] : [key]
}

/** Index function: volumes without a claim by class. */
export const freeVolumesByClass = (volume: PersistentVolume): readonly string[] =>
  volume.spec?.claimRef ? [] : [`class ${volumeClass(volume)}`]

/** The index value of claims without a class. */
export const withoutClass = 'no class named'

/** Index function: claims without a volume by class. */
export function unboundClaims(claim: PersistentVolumeClaim): readonly string[] {
  if (claim.spec?.volumeName) return []
  return [`class ${claimClass(claim)}`, ...(namesClass(claim) ? [] : [withoutClass])]
}

/** Index function: claims by referenced volume. */
export const claimsByVolume = ({ spec }: PersistentVolumeClaim): readonly string[] =>
  spec?.volumeName ? [spec.volumeName] : []

/** Index function: unscheduled pods by claim. */
export const waitingPods = (pod: Pod): readonly string[] => (pod.spec?.nodeName ? [] : claimsOfPod(pod))
