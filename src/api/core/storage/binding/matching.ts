/** Matches volumes to claims. */
import type { V1PersistentVolume, V1PersistentVolumeClaim } from '@kubernetes/client-node'
import type { Model } from '../../../../machinery/object.ts'
import { labelSelectorOf } from '../../../../machinery/selectors/label-selector.ts'
import { compareQuantities } from '../../../../machinery/values/quantity.ts'
import { claimClass, volumeClass } from './storage-class.ts'

type PersistentVolume = Model<V1PersistentVolume>
type PersistentVolumeClaim = Model<V1PersistentVolumeClaim>

const noSize = '0'
const usualMode = 'Filesystem'

const requestedSize = ({ spec }: PersistentVolumeClaim): string => spec?.resources?.requests?.storage ?? noSize
const sizeOf = ({ spec }: PersistentVolume): string => spec?.capacity?.storage ?? noSize
const isLargeEnough = (volume: PersistentVolume, claim: PersistentVolumeClaim): boolean =>
  compareQuantities(sizeOf(volume), requestedSize(claim)) >= 0
const hasModes = ({ spec }: PersistentVolume, claim: PersistentVolumeClaim): boolean =>
  claim.spec?.accessModes?.every((mode) => spec?.accessModes?.includes(mode)) ?? true
const sameAttributes = ({ spec }: PersistentVolume, claim: PersistentVolumeClaim): boolean =>
  (spec?.volumeAttributesClassName ?? '') === (claim.spec?.volumeAttributesClassName ?? '')

/** Returns true if both have the same volumeMode. */
export const sameVolumeMode = ({ spec }: PersistentVolume, claim: PersistentVolumeClaim): boolean =>
  (spec?.volumeMode ?? usualMode) === (claim.spec?.volumeMode ?? usualMode)

/** Returns true if a volume is bound to a claim or reserved for it; a reservation may lack the uid. */
export function isBoundOrReserved({ spec }: PersistentVolume, { metadata }: PersistentVolumeClaim): boolean {
  const claim = spec?.claimRef
  return (
    claim?.name === metadata.name &&
    claim?.namespace === metadata.namespace &&
    (!claim?.uid || claim.uid === metadata.uid)
  )
}

/** Returns upstream's message why a claim cannot have the volume that it names, or undefined if it can. */
export function mismatch(volume: PersistentVolume, claim: PersistentVolumeClaim): string | undefined {
  if (!isLargeEnough(volume, claim)) return 'requested PV is too small'
  if (volumeClass(volume) !== claimClass(claim)) return 'storageClassName does not match'
  if (!sameAttributes(volume, claim)) return 'volumeAttributesClassName does not match'
  if (!sameVolumeMode(volume, claim)) return 'incompatible volumeMode'
  if (!hasModes(volume, claim)) return 'incompatible accessMode'
  return undefined
}

/** Returns true if a volume is reserved for the claim and matches it. */
export const isReserved = (volume: PersistentVolume, claim: PersistentVolumeClaim): boolean =>
  isBoundOrReserved(volume, claim) &&
  isLargeEnough(volume, claim) &&
  sameVolumeMode(volume, claim) &&
  hasModes(volume, claim)

/** Returns true if the available volume matches a claim that names no volume. */
export const isMatch = (volume: PersistentVolume, claim: PersistentVolumeClaim): boolean =>
  volume.status?.phase === 'Available' &&
  !volume.spec?.claimRef &&
  mismatch(volume, claim) === undefined &&
  (!claim.spec?.selector || labelSelectorOf(claim.spec.selector).matches(volume.metadata.labels ?? {}))

/**
 * Returns the volume for a claim: a reserved one, or else the matching one with the fewest access modes, then the
 * smallest, then the first by name. With `onlyReserved` (the scheduler decides), only reserved ones.
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
    if (!onlyReserved && isMatch(volume, claim) && (!best || compareMatches(volume, best) < 0)) best = volume
  }
  return best
}

/** Compares two matching volumes; negative if `a` is preferred. */
export const compareMatches = (a: PersistentVolume, b: PersistentVolume): number =>
  (a.spec?.accessModes?.length ?? 0) - (b.spec?.accessModes?.length ?? 0) ||
  compareQuantities(sizeOf(a), sizeOf(b)) ||
  ((a.metadata.name ?? '') < (b.metadata.name ?? '') ? -1 : 1)
