/** How volumes and claims find each other in the caches. */

import { claimClass, namesClass, volumeClass } from '../../../api/core/storage/binding/storage-class.ts'
import type { PersistentVolume, PersistentVolumeClaim } from '../../../client/kinds.ts'

/** The claim that a volume names, as a key. */
export const claimKey = ({ spec }: PersistentVolume): string | undefined =>
  spec?.claimRef ? `${spec.claimRef.namespace ?? ''}/${spec.claimRef.name ?? ''}` : undefined

/** Volumes by the claim that they name. */
export function volumesByClaim(volume: PersistentVolume): readonly string[] {
  const key = claimKey(volume)
  return key === undefined ? [] : [key]
}

/** Volumes that no claim has, by their class. */
export const freeVolumesByClass = (volume: PersistentVolume): readonly string[] =>
  volume.spec?.claimRef ? [] : [`class ${volumeClass(volume)}`]

/** What stands for claims that say nothing of a class. */
export const noClassNamed = 'no class named'

/** Claims that have no volume, by their class. */
export function unboundClaims(claim: PersistentVolumeClaim): readonly string[] {
  if (claim.spec?.volumeName) return []
  return [`class ${claimClass(claim)}`, ...(namesClass(claim) ? [] : [noClassNamed])]
}

/** Claims by the volume that they name. */
export const claimsByVolume = ({ spec }: PersistentVolumeClaim): readonly string[] =>
  spec?.volumeName ? [spec.volumeName] : []
