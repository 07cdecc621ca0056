/** What a claim needs next: a pure function of it and of what is there. */

import { bindCompleted, boundByController, has, selectedNode } from '../../../api/core/storage/binding/annotations.ts'
import { bestVolume, isBoundOrReserved, mismatch } from '../../../api/core/storage/binding/matching.ts'
import {
  claimClass,
  defaultClass,
  namesClass,
  waitsForConsumer,
} from '../../../api/core/storage/binding/storage-class.ts'
import type { EventType } from '../../../client/events/event-recorder.ts'
import type { PersistentVolume, PersistentVolumeClaim, StorageClass } from '../../../client/kinds.ts'

/** An event in the making. */
export interface Told {
  readonly type: EventType
  readonly reason: string
  readonly message: string
}

export type ClaimPlan =
  | { readonly step: 'bind'; readonly volume: PersistentVolume }
  /** It stays pending; something may be told. */
  | { readonly step: 'wait'; readonly told?: Told }
  | { readonly step: 'lose'; readonly told: Told }
  /** There is a default class now. */
  | { readonly step: 'name class'; readonly className: string }
  | { readonly step: 'provision'; readonly className: string }
  | { readonly step: 'nothing' }

/** What is there. */
export interface ClaimSurroundings {
  volume(name: string): PersistentVolume | undefined
  /** Volumes of a class, and those kept for the claim. */
  candidates(claim: PersistentVolumeClaim): Iterable<PersistentVolume>
  storageClass(name: string): StorageClass | undefined
  storageClasses(): Iterable<StorageClass>
  /** Names of pods that use the claim and have no node yet. */
  waitingPods(claim: PersistentVolumeClaim): readonly string[]
}

export function planClaim(claim: PersistentVolumeClaim, around: ClaimSurroundings): ClaimPlan {
  if (has(claim, bindCompleted)) return planBound(claim, around)
  return claim.spec?.volumeName ? planNamed(claim, claim.spec.volumeName, around) : planUnbound(claim, around)
}

const lost = (reason: string, message: string): ClaimPlan => ({
  step: 'lose',
  told: { type: 'Warning', reason, message },
})

/** The claim was bound: what it was bound to has to be there, and its own. */
function planBound(claim: PersistentVolumeClaim, { volume: find }: ClaimSurroundings): ClaimPlan {
  const name = claim.spec?.volumeName
  if (!name) return lost('ClaimLost', 'Bound claim has lost reference to PersistentVolume. Data on the volume is lost!')
  const volume = find(name)
  if (!volume) return lost('ClaimLost', 'Bound claim has lost its PersistentVolume. Data on the volume is lost!')
  const owner = volume.spec?.claimRef
  if (!owner || owner.uid === claim.metadata.uid) return { step: 'bind', volume }
  return lost('ClaimMisbound', 'Two claims are bound to the same volume, this one is bound incorrectly')
}

/** A user asks for one volume. */
function planNamed(claim: PersistentVolumeClaim, name: string, { volume: find }: ClaimSurroundings): ClaimPlan {
  const volume = find(name)
  if (!volume) return { step: 'wait' }
  if (!volume.spec?.claimRef) {
    const why = mismatch(volume, claim)
    if (why === undefined) return { step: 'bind', volume }
    return {
      step: 'wait',
      told: { type: 'Warning', reason: 'VolumeMismatch', message: `Cannot bind to requested volume "${name}": ${why}` },
    }
  }
  if (isBoundOrReserved(volume, claim)) return { step: 'bind', volume }
  if (has(claim, boundByController)) return { step: 'wait' }
  return {
    step: 'wait',
    told: { type: 'Warning', reason: 'FailedBinding', message: `volume "${name}" already bound to a different claim.` },
  }
}

function planUnbound(claim: PersistentVolumeClaim, around: ClaimSurroundings): ClaimPlan {
  const className = claimClass(claim)
  const waits = waitsForConsumer(around.storageClass(className))
  const volume = bestVolume(claim, around.candidates(claim), waits)
  if (volume) return { step: 'bind', volume }
  // Nobody will use it.
  if (claim.metadata.deletionTimestamp) return { step: 'nothing' }
  if (!namesClass(claim)) {
    const name = defaultClass(around.storageClasses())?.metadata.name
    if (name) return { step: 'name class', className: name }
  }
  if (waits && !has(claim, selectedNode)) return { step: 'wait', told: consumerAwaited(around.waitingPods(claim)) }
  if (className) return { step: 'provision', className }
  return {
    step: 'wait',
    told: {
      type: 'Normal',
      reason: 'FailedBinding',
      message: 'no persistent volumes available for this claim and no storage class is set',
    },
  }
}

function consumerAwaited(pods: readonly string[]): Told {
  if (pods.length === 0)
    return {
      type: 'Normal',
      reason: 'WaitForFirstConsumer',
      message: 'waiting for first consumer to be created before binding',
    }
  return {
    type: 'Normal',
    reason: 'WaitForPodScheduled',
    message: `waiting for ${pods.length > 1 ? 'pods' : 'pod'} ${pods.join(',')} to be scheduled`,
  }
}
