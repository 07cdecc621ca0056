/** Which volume suits a claim. */
import type { V1PersistentVolume, V1PersistentVolumeClaim } from '@kubernetes/client-node'
import type { Model } from '../../../../machinery/object.ts'
import { labelSelectorOf } from '../../../../machinery/selectors/label-selector.ts'
import { compareQuantities } from '../../../../machinery/values/quantity.ts'
import { claimClass, volumeClass } from './storage-class.ts'

type PersistentVolume = Model<V1PersistentVolume>
type PersistentVolumeClaim = Model<V1PersistentVolumeClaim>

const noSize = '0'
const usualMode = 'Filesystem'

const sizeAsked = ({ spec }: PersistentVolumeClaim): string => spec?.resources?.requests?.storage ?? noSize
const sizeOf = ({ spec }: PersistentVolume): string => spec?.capacity?.storage ?? noSize
const isLargeEnough = (volume: PersistentVolume, claim: PersistentVolumeClaim): boolean =>
  compareQuantities(sizeOf(volume), sizeAsked(claim)) >= 0
const hasModes = ({ spec }: PersistentVolume, claim: PersistentVolumeClaim): boolean =>
  claim.spec?.accessModes?.every((mode) => spec?.accessModes?.includes(mode)) ?? true
const sameAttributes = ({ spec }: PersistentVolume, claim: PersistentVolumeClaim): boolean =>
  (spec?.volumeAttributesClassName ?? '') === (claim.spec?.volumeAttributesClassName ?? '')

/** Whether both are file systems, or both block devices. */
export const sameVolumeMode = ({ spec }: PersistentVolume, claim: PersistentVolumeClaim): boolean =>
  (spec?.volumeMode ?? usualMode) === (claim.spec?.volumeMode ?? usualMode)

/** Whether a volume is bound to a claim, or kept for it: then it may not know its uid yet. */
export function isFor({ spec }: PersistentVolume, { metadata }: PersistentVolumeClaim): boolean {
  const claim = spec?.claimRef
  return (
    claim?.name === metadata.name &&
    claim?.namespace === metadata.namespace &&
    (!claim?.uid || claim.uid === metadata.uid)
  )
}

/** What keeps a claim from the volume that it names, in upstream's words; undefined where nothing does. */
export function mismatch(volume: PersistentVolume, claim: PersistentVolumeClaim): string | undefined {
  if (!isLargeEnough(volume, claim)) return 'requested PV is too small'
  if (volumeClass(volume) !== claimClass(claim)) return 'storageClassName does not match'
  if (!sameAttributes(volume, claim)) return 'volumeAttributesClassName does not match'
  if (!sameVolumeMode(volume, claim)) return 'incompatible volumeMode'
  if (!hasModes(volume, claim)) return 'incompatible accessMode'
  return undefined
}

/** Whether a volume is kept for a claim that can have it. */
export const isReserved = (volume: PersistentVolume, claim: PersistentVolumeClaim): boolean =>
  isFor(volume, claim) && isLargeEnough(volume, claim) && sameVolumeMode(volume, claim) && hasModes(volume, claim)

/** Whether a claim that names no volume may get this one, which nobody has. */
export const suits = (volume: PersistentVolume, claim: PersistentVolumeClaim): boolean =>
  volume.status?.phase === 'Available' &&
  !volume.spec?.claimRef &&
  mismatch(volume, claim) === undefined &&
  (!claim.spec?.selector || labelSelectorOf(claim.spec.selector).matches(volume.metadata.labels ?? {}))

/**
 * The volume that a claim gets: one kept for it, or of those that suit the one with the fewest access modes beyond what
 * is asked, of these the smallest, of these the first by name. With `onlyReserved` (the scheduler chooses) the others
 * are left out.
 */
export function bestVolume(
  claim: PersistentVolumeClaim,
  volumes: Iterable<PersistentVolume>,
  onlyReserved: boolean,
): PersistentVolume | undefined {
  let best: PersistentVolume | undefined
  for (const volume of volumes) {
    if (volume.metadata.deletionTimestamp) continue
    if (isReserved(volume, claim)) return volume
    if (!onlyReserved && suits(volume, claim) && (!best || order(volume, best) < 0)) best = volume
  }
  return best
}

/** Which of two volumes that suit a claim it rather gets: less than 0 for `a`. */
export const order = (a: PersistentVolume, b: PersistentVolume): number =>
  (a.spec?.accessModes?.length ?? 0) - (b.spec?.accessModes?.length ?? 0) ||
  compareQuantities(sizeOf(a), sizeOf(b)) ||
  ((a.metadata.name ?? '') < (b.metadata.name ?? '') ? -1 : 1)
