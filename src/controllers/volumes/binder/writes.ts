/** The binder's writes to volumes and claims. A write that would change nothing is skipped. */

import { isDeepStrictEqual } from 'node:util'
import {
  bindCompleted,
  boundByController,
  has,
  withAnnotations,
} from '../../../api/core/storage/binding/annotations.ts'
import { boundVolume } from '../../../api/core/storage/binding/bind-volume.ts'
import type { ReconcileContext } from '../../../client/controller/controller.ts'
import {
  persistentVolumeClaims as claims,
  type PersistentVolume,
  type PersistentVolumeClaim,
  persistentVolumes as volumes,
} from '../../../client/kinds.ts'
import { compareQuantities } from '../../../machinery/values/quantity.ts'
import type { PlannedEvent } from './decisions/claim-plan.ts'
import type { OverlayCache } from './overlay-cache.ts'

export type ClaimPhase = 'Pending' | 'Bound' | 'Lost'
export type VolumePhase = 'Available' | 'Bound' | 'Released' | 'Failed'

export class BinderWrites {
  readonly #volumes: OverlayCache<PersistentVolume>
  readonly #claims: OverlayCache<PersistentVolumeClaim>

  constructor(volumeCache: OverlayCache<PersistentVolume>, claimCache: OverlayCache<PersistentVolumeClaim>) {
    this.#volumes = volumeCache
    this.#claims = claimCache
  }

  /** Binds both objects, first the volume, then the claim, so that a crash in between can be continued. */
  async bind(volume: PersistentVolume, claim: PersistentVolumeClaim, context: ReconcileContext): Promise<void> {
    const owned = await this.#volumeToClaim(volume, claim, context)
    const bound = await this.volumePhase(owned, 'Bound', context)
    const named = await this.#claimToVolume(claim, bound, context)
    await this.claimStatus(named, 'Bound', bound, context)
  }

  async volume(volume: PersistentVolume, { client }: ReconcileContext): Promise<PersistentVolume> {
    return this.#volumes.recordUpdate(await client.update(volumes, volume))
  }

  async claim(claim: PersistentVolumeClaim, { client }: ReconcileContext): Promise<PersistentVolumeClaim> {
    return this.#claims.recordUpdate(await client.update(claims, claim))
  }

  /** Records a volume that was just created. */
  recordCreation(volume: PersistentVolume): void {
    this.#volumes.recordCreation(volume)
  }

  /** `event` is recorded only if the phase changes. */
  async volumePhase(
    volume: PersistentVolume,
    phase: VolumePhase,
    { client, events }: ReconcileContext,
    event?: PlannedEvent,
  ): Promise<PersistentVolume> {
    if (volume.status?.phase === phase) return volume
    const status = { ...volume.status, phase }
    delete status.message
    if (event) status.message = event.message
    const written = this.#volumes.recordUpdate(await client.updateStatus(volumes, { ...volume, status }))
    if (event) events.record(written, event.type, event.reason, event.message)
    return written
  }

  /** `event` is recorded only if the phase changes. */
  async claimStatus(
    claim: PersistentVolumeClaim,
    phase: ClaimPhase,
    volume: PersistentVolume | undefined,
    { client, events }: ReconcileContext,
    event?: PlannedEvent,
  ): Promise<void> {
    const status = statusOf(claim, phase, volume)
    if (isDeepStrictEqual(status, claim.status)) return
    const written = this.#claims.recordUpdate(await client.updateStatus(claims, { ...claim, status }))
    if (event && claim.status?.phase !== phase) events.record(written, event.type, event.reason, event.message)
  }

  /** Unbinds a volume; a reservation by a user for a claim name is retained. */
  async unbind(volume: PersistentVolume, context: ReconcileContext): Promise<void> {
    const owner = volume.spec?.claimRef
    let free = volume
    if (owner && has(volume, boundByController)) {
      const { claimRef: _, ...spec } = volume.spec ?? {}
      free = await this.volume(withAnnotations({ ...volume, spec }, { [boundByController]: undefined }), context)
    } else if (owner?.uid) {
      const { uid: _, ...reservation } = owner
      free = await this.volume({ ...volume, spec: { ...volume.spec, claimRef: reservation } }, context)
    }
    await this.volumePhase(free, 'Available', context)
  }

  async #volumeToClaim(
    volume: PersistentVolume,
    claim: PersistentVolumeClaim,
    context: ReconcileContext,
  ): Promise<PersistentVolume> {
    const bound = boundVolume(volume, claim)
    return bound === volume ? volume : this.volume(bound, context)
  }

  async #claimToVolume(
    claim: PersistentVolumeClaim,
    { metadata: { name } }: PersistentVolume,
    context: ReconcileContext,
  ): Promise<PersistentVolumeClaim> {
    const isNamed = claim.spec?.volumeName === name
    if (isNamed && has(claim, bindCompleted)) return claim
    const named = { ...claim, spec: { ...claim.spec, volumeName: name } }
    return this.claim(
      withAnnotations(named, { ...(!isNamed && { [boundByController]: 'yes' }), [bindCompleted]: 'yes' }),
      context,
    )
  }
}

/** The status of a claim. Its capacity is set when it becomes bound; later only expansion changes it. */
export function statusOf(
  claim: PersistentVolumeClaim,
  phase: ClaimPhase,
  volume: PersistentVolume | undefined,
): NonNullable<PersistentVolumeClaim['status']> {
  const { accessModes: _, capacity, currentVolumeAttributesClassName, ...rest } = claim.status ?? {}
  if (!volume) return { ...rest, phase }
  const { accessModes = [], capacity: has, volumeAttributesClassName } = volume.spec ?? {}
  const isNew =
    claim.status?.phase !== phase &&
    (!capacity?.storage || compareQuantities(capacity.storage, has?.storage ?? '0') !== 0)
  const size = isNew ? has : capacity
  const attributes = claim.status?.phase === phase ? currentVolumeAttributesClassName : volumeAttributesClassName
  return {
    ...rest,
    phase,
    accessModes: [...accessModes],
    ...(size && { capacity: { ...size } }),
    ...(attributes !== undefined && { currentVolumeAttributesClassName: attributes }),
  }
}
