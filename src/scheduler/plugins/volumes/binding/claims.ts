/** Groups a pod's claims by the way in which they are bound, before any node is checked. */
import { bindCompleted, has, selectedNode } from '../../../../api/core/storage/binding/annotations.ts'
import {
  compareMatches,
  isBoundOrReserved,
  isMatch,
  isReserved,
} from '../../../../api/core/storage/binding/matching.ts'
import { claimClass, waitsForConsumer } from '../../../../api/core/storage/binding/storage-class.ts'
import type { PersistentVolume, PersistentVolumeClaim, StorageClass } from '../../../../client/kinds.ts'
import { type NodeMatcher, nodeSelectorOf } from '../../../../machinery/selectors/node-selector.ts'
import { compareQuantities } from '../../../../machinery/values/quantity.ts'

/** A bound claim; `volume` is undefined if it was deleted. */
export interface BoundClaim {
  readonly claim: PersistentVolumeClaim
  readonly volume: PersistentVolume | undefined
}

/** A claim that is bound when the pod is scheduled. */
export interface DelayedClaim {
  readonly claim: PersistentVolumeClaim
  readonly storageClass: StorageClass
  /** The node selected by an earlier attempt, on which a volume is being provisioned. */
  readonly selectedNode: string | undefined
  /** A volume reserved for the claim. */
  readonly reserved: PersistentVolume | undefined
  /** Volumes that match the claim, the best first. */
  readonly candidates: readonly PersistentVolume[]
}

export interface SortedClaims {
  readonly bound: readonly BoundClaim[]
  /** Smallest first, so that small claims do not take large volumes. */
  readonly delayed: readonly DelayedClaim[]
  /** Unbound claims that the volume controller binds. */
  readonly immediate: readonly PersistentVolumeClaim[]
}

export interface Storage {
  volume(name: string): PersistentVolume | undefined
  volumesOf(className: string): Iterable<PersistentVolume>
  storageClass(name: string): StorageClass | undefined
}

export function sortClaims(claims: readonly PersistentVolumeClaim[], storage: Storage): SortedClaims {
  const bound: BoundClaim[] = []
  const delayed: DelayedClaim[] = []
  const immediate: PersistentVolumeClaim[] = []
  for (const claim of claims) {
    const volumeName = claim.spec?.volumeName
    const storageClass = volumeName && has(claim, bindCompleted) ? undefined : classOf(claim, storage)
    if (volumeName && has(claim, bindCompleted)) bound.push({ claim, volume: storage.volume(volumeName) })
    else if (storageClass && waitsForConsumer(storageClass) && !volumeName)
      delayed.push(delayedClaim(claim, storageClass, storage))
    else immediate.push(claim)
  }
  return { bound, delayed: delayed.sort((a, b) => compareQuantities(sizeOf(a.claim), sizeOf(b.claim))), immediate }
}

/** A missing class does not delay the binding: it may be created later. */
const classOf = (claim: PersistentVolumeClaim, storage: Storage): StorageClass | undefined =>
  storage.storageClass(claimClass(claim))

function delayedClaim(claim: PersistentVolumeClaim, storageClass: StorageClass, storage: Storage): DelayedClaim {
  const candidates: PersistentVolume[] = []
  let reserved: PersistentVolume | undefined
  for (const volume of storage.volumesOf(storageClass.metadata.name ?? '')) {
    if (volume.metadata.deletionTimestamp) continue
    if (isBoundOrReserved(volume, claim)) reserved ??= isReserved(volume, claim) ? volume : undefined
    else if (isMatch(volume, claim)) candidates.push(volume)
  }
  return {
    claim,
    storageClass,
    selectedNode: claim.metadata.annotations?.[selectedNode],
    reserved,
    candidates: candidates.sort(compareMatches),
  }
}

export const sizeOf = ({ spec }: PersistentVolumeClaim): string => spec?.resources?.requests?.storage ?? '0'

const anywhere: NodeMatcher = () => true
const matchers = new WeakMap<PersistentVolume, NodeMatcher>()

/** Matches the nodes on which a volume can be used. */
export function reaches(volume: PersistentVolume): NodeMatcher {
  let matcher = matchers.get(volume)
  if (!matcher) {
    const required = volume.spec?.nodeAffinity?.required
    matchers.set(volume, (matcher = required ? nodeSelectorOf(required) : anywhere))
  }
  return matcher
}
