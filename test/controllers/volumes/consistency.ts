/** Checks that volumes and claims agree. */
import { isMatch } from '../../../src/api/core/storage/binding/matching.ts'
import type { PersistentVolume, PersistentVolumeClaim } from '../../../src/client/kinds.ts'
import type { KubeObject } from '../../../src/machinery/object.ts'
import { compareQuantities } from '../../../src/machinery/values/quantity.ts'

type Claims = readonly PersistentVolumeClaim[]
type Volumes = readonly PersistentVolume[]

export const nameOf = (object: KubeObject | undefined): string => object?.metadata.name ?? ''

/** Returns the states that must never exist. */
export function violations(claims: Claims, volumes: Volumes): string[] {
  const bound = claims.filter(({ status }) => status?.phase === 'Bound')
  return [
    ...bound
      .filter((claim, index) => bound.findIndex(({ spec }) => spec?.volumeName === claim.spec?.volumeName) !== index)
      .map((claim) => `${nameOf(claim)} shares its volume`),
    ...claims.filter(({ status }) => status?.phase === 'Lost').map((claim) => `${nameOf(claim)} is lost`),
    ...bound.flatMap((claim) => violationsOfBound(claim, volumes)),
  ]
}

function violationsOfBound(claim: PersistentVolumeClaim, volumes: Volumes): string[] {
  const volume = volumes.find((volume) => nameOf(volume) === claim.spec?.volumeName)
  if (!volume) return [`${nameOf(claim)} has no volume`]
  const capacity = volume.spec?.capacity?.storage ?? '0'
  const requested = claim.spec?.resources?.requests?.storage ?? '0'
  return [
    ...(compareQuantities(capacity, requested) < 0 ? [`the volume of ${nameOf(claim)} is too small`] : []),
    ...(volume.spec?.claimRef?.uid === claim.metadata.uid ? [] : [`${nameOf(volume)} is not ${nameOf(claim)}'s`]),
  ]
}

/** Returns the work that remains. */
export function unfinished(claims: Claims, volumes: Volumes): string[] {
  return [
    ...claims.filter(({ metadata }) => metadata.deletionTimestamp).map((claim) => `${nameOf(claim)} is not deleted`),
    ...claims
      .filter(({ spec, status }) => status?.phase === 'Pending' && !spec?.volumeName)
      .filter((claim) => volumes.some((volume) => !volume.metadata.deletionTimestamp && isMatch(volume, claim)))
      .map((claim) => `${nameOf(claim)} could have a volume`),
    ...volumes.flatMap((volume) => unfinishedVolume(volume, claims)),
  ]
}

function unfinishedVolume(volume: PersistentVolume, claims: Claims): string[] {
  const { claimRef } = volume.spec ?? {}
  const owner = claims.find(({ metadata }) => metadata.uid === claimRef?.uid)
  if (owner && owner.spec?.volumeName !== nameOf(volume)) return [`${nameOf(owner)} does not name ${nameOf(volume)}`]
  const expected = !claimRef?.uid ? 'Available' : owner ? 'Bound' : 'Released'
  const phase = volume.status?.phase
  return phase === expected ? [] : [`${nameOf(volume)} is ${phase}, not ${expected}`]
}
