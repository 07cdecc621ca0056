/** Plans the next step of a claim. Pure function of the claim and of look-ups. */

import {
  bindCompleted,
  boundByController,
  has,
  selectedNode,
} from '../../../../api/core/storage/binding/annotations.ts'
import { bestVolume, isBoundOrReserved, mismatch } from '../../../../api/core/storage/binding/matching.ts'
import {
  claimClass,
  defaultClass,
  namesClass,
  waitsForConsumer,
} from '../../../../api/core/storage/binding/storage-class.ts'
import type { EventType } from '../../../../client/events/event-recorder.ts'
import type { PersistentVolume, PersistentVolumeClaim, StorageClass } from '../../../../client/kinds.ts'

/** An event to record. */
export interface PlannedEvent {
  readonly type: EventType
  readonly reason: string
  readonly message: string
}

export type ClaimPlan =
  | { readonly step: 'bind'; readonly volume: PersistentVolume }
  /** It stays pending, possibly with an event. */
  | { readonly step: 'wait'; readonly event?: PlannedEvent }
  | { readonly step: 'lose'; readonly event: PlannedEvent }
  /** A default class exists now. */
  | { readonly step: 'name class'; readonly className: string }
  | { readonly step: 'provision'; readonly className: string }
  | { readonly step: 'nothing' }

/** Look-ups of existing objects. */
export interface ClaimLookups {
  volume(name: string): PersistentVolume | undefined
  /** Volumes of the claim's class and those reserved for the claim. */
  candidates(claim: PersistentVolumeClaim): Iterable<PersistentVolume>
  storageClass(name: string): StorageClass | undefined
  storageClasses(): Iterable<StorageClass>
  /** Names of unscheduled pods that use the claim. */
  waitingPods(claim: PersistentVolumeClaim): readonly string[]
}

export function planClaim(claim: PersistentVolumeClaim, find: ClaimLookups): ClaimPlan {
  if (has(claim, bindCompleted)) return planBound(claim, find)
  return claim.spec?.volumeName ? planNamed(claim, claim.spec.volumeName, find) : planUnbound(claim, find)
}

const lost = (reason: string, message: string): ClaimPlan => ({
  step: 'lose',
  event: { type: 'Warning', reason, message },
})

/** Checks that the volume of a bound claim exists and references the claim. */
function planBound(claim: PersistentVolumeClaim, { volume: findVolume }: ClaimLookups): ClaimPlan {
  const name = claim.spec?.volumeName
  if (!name) return lost('ClaimLost', 'Bound claim has lost reference to PersistentVolume. Data on the volume is lost!')
  const volume = findVolume(name)
  if (!volume) return lost('ClaimLost', 'Bound claim has lost its PersistentVolume. Data on the volume is lost!')
  const owner = volume.spec?.claimRef
  if (!owner || owner.uid === claim.metadata.uid) return { step: 'bind', volume }
  return lost('ClaimMisbound', 'Two claims are bound to the same volume, this one is bound incorrectly')
}

/** Plans a claim that names its volume. */
function planNamed(claim: PersistentVolumeClaim, name: string, { volume: findVolume }: ClaimLookups): ClaimPlan {
  const volume = findVolume(name)
  if (!volume) return { step: 'wait' }
  if (!volume.spec?.claimRef) {
    const why = mismatch(volume, claim)
    if (why === undefined) return { step: 'bind', volume }
    return {
      step: 'wait',
      event: {
        type: 'Warning',
        reason: 'VolumeMismatch',
        message: `Cannot bind to requested volume "${name}": ${why}`,
      },
    }
  }
  if (isBoundOrReserved(volume, claim)) return { step: 'bind', volume }
  if (has(claim, boundByController)) return { step: 'wait' }
  return {
    step: 'wait',
    event: {
      type: 'Warning',
      reason: 'FailedBinding',
      message: `volume "${name}" already bound to a different claim.`,
    },
  }
}

function planUnbound(claim: PersistentVolumeClaim, find: ClaimLookups): ClaimPlan {
  const className = claimClass(claim)
  const waits = waitsForConsumer(find.storageClass(className))
  const volume = bestVolume(claim, find.candidates(claim), waits)
  if (volume) return { step: 'bind', volume }
  // A deleted claim needs no volume.
  if (claim.metadata.deletionTimestamp) return { step: 'nothing' }
  if (!namesClass(claim)) {
    const name = defaultClass(find.storageClasses())?.metadata.name
    if (name) return { step: 'name class', className: name }
  }
  if (waits && !has(claim, selectedNode)) return { step: 'wait', event: waitingEvent(find.waitingPods(claim)) }
  if (className) return { step: 'provision', className }
  return {
    step: 'wait',
    event: {
      type: 'Normal',
      reason: 'FailedBinding',
      message: 'no persistent volumes available for this claim and no storage class is set',
    },
  }
}

function waitingEvent(pods: readonly string[]): PlannedEvent {
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
