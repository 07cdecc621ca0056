/**
 * A pod's claims by what the scheduler has to do about them, with what is known of them before any node is looked at.
 */
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

/** A claim that has its volume; undefined where that has gone. */
export interface BoundClaim {
  readonly claim: PersistentVolumeClaim
  readonly volume: PersistentVolume | undefined
}

/** A claim that gets a volume where the pod goes. */
export interface DelayedClaim {
  readonly claim: PersistentVolumeClaim
  readonly storageClass: StorageClass
  /** The node that was chosen for it once; a volume is being made there. */
  readonly selectedNode: string | undefined
  /** A volume that is kept for it. */
  readonly kept: PersistentVolume | undefined
  /** Volumes that it may get, the best first. */
  readonly candidates: readonly PersistentVolume[]
}

export interface SortedClaims {
  readonly bound: readonly BoundClaim[]
  /** Smallest first, so that small claims do not take what large ones need. */
  readonly delayed: readonly DelayedClaim[]
  /** Somebody else binds them, and has not yet. */
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

/** A class that is not there makes nobody wait for a pod: it may come yet. */
const classOf = (claim: PersistentVolumeClaim, { storageClass }: Storage): StorageClass | undefined =>
  storageClass(claimClass(claim))

function delayedClaim(claim: PersistentVolumeClaim, storageClass: StorageClass, { volumesOf }: Storage): DelayedClaim {
  const candidates: PersistentVolume[] = []
  let kept: PersistentVolume | undefined
  for (const volume of volumesOf(storageClass.metadata.name ?? '')) {
    if (volume.metadata.deletionTimestamp) continue
    if (isBoundOrReserved(volume, claim)) kept ??= isReserved(volume, claim) ? volume : undefined
    else if (isMatch(volume, claim)) candidates.push(volume)
  }
  return {
    claim,
    storageClass,
    selectedNode: claim.metadata.annotations?.[selectedNode],
    kept,
    candidates: candidates.sort(compareMatches),
  }
}

export const sizeOf = ({ spec }: PersistentVolumeClaim): string => spec?.resources?.requests?.storage ?? '0'

const anywhere: NodeMatcher = () => true
const matchers = new WeakMap<PersistentVolume, NodeMatcher>()

/** Whether a volume can be used on a node. */
export function reaches(volume: PersistentVolume): NodeMatcher {
  let matcher = matchers.get(volume)
  if (!matcher) {
    const required = volume.spec?.nodeAffinity?.required
    matchers.set(volume, (matcher = required ? nodeSelectorOf(required) : anywhere))
  }
  return matcher
}
