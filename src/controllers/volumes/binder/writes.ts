/** What the binder writes to volumes and claims. Each write is skipped where nothing would change. */

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
import type { Told } from './claim-plan.ts'
import type { Latest } from './latest.ts'

export type ClaimPhase = 'Pending' | 'Bound' | 'Lost'
export type VolumePhase = 'Available' | 'Bound' | 'Released' | 'Failed'

export class BinderWrites {
  readonly #volumes: Latest<PersistentVolume>
  readonly #claims: Latest<PersistentVolumeClaim>

  constructor(ofVolumes: Latest<PersistentVolume>, ofClaims: Latest<PersistentVolumeClaim>) {
    this.#volumes = ofVolumes
    this.#claims = ofClaims
  }

  /**
   * First the volume says whose it is, then the claim what it has: whoever stops in between, the rest follows from what
   * is written.
   */
  async bind(volume: PersistentVolume, claim: PersistentVolumeClaim, context: ReconcileContext): Promise<void> {
    const owned = await this.#volumeToClaim(volume, claim, context)
    const bound = await this.volumePhase(owned, 'Bound', context)
    const named = await this.#claimToVolume(claim, bound, context)
    await this.claimStatus(named, 'Bound', bound, context)
  }

  async volume(volume: PersistentVolume, { client }: ReconcileContext): Promise<PersistentVolume> {
    return this.#volumes.wrote(await client.update(volumes, volume))
  }

  async claim(claim: PersistentVolumeClaim, { client }: ReconcileContext): Promise<PersistentVolumeClaim> {
    return this.#claims.wrote(await client.update(claims, claim))
  }

  /** A volume that was made just now. */
  made(volume: PersistentVolume): void {
    this.#volumes.made(volume)
  }

  /** `told` goes out only with a change of phase. */
  async volumePhase(
    volume: PersistentVolume,
    phase: VolumePhase,
    { client, events }: ReconcileContext,
    told?: Told,
  ): Promise<PersistentVolume> {
    if (volume.status?.phase === phase) return volume
    const status = { ...volume.status, phase }
    delete status.message
    if (told) status.message = told.message
    const written = this.#volumes.wrote(await client.updateStatus(volumes, { ...volume, status }))
    if (told) events.record(written, told.type, told.reason, told.message)
    return written
  }

  /** `told` goes out only with a change of phase. */
  async claimStatus(
    claim: PersistentVolumeClaim,
    phase: ClaimPhase,
    volume: PersistentVolume | undefined,
    { client, events }: ReconcileContext,
    told?: Told,
  ): Promise<void> {
    const status = statusOf(claim, phase, volume)
    if (isDeepStrictEqual(status, claim.status)) return
    const written = this.#claims.wrote(await client.updateStatus(claims, { ...claim, status }))
    if (told && claim.status?.phase !== phase) events.record(written, told.type, told.reason, told.message)
  }

  /** The volume is nobody's again; one that a user keeps for a claim stays kept for it. */
  async unbind(volume: PersistentVolume, context: ReconcileContext): Promise<void> {
    const owner = volume.spec?.claimRef
    let free = volume
    if (owner && has(volume, boundByController)) {
      const { claimRef: _, ...spec } = volume.spec ?? {}
      free = await this.volume(withAnnotations({ ...volume, spec }, { [boundByController]: undefined }), context)
    } else if (owner?.uid) {
      const { uid: _, ...kept } = owner
      free = await this.volume({ ...volume, spec: { ...volume.spec, claimRef: kept } }, context)
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

/** A claim's size is told when it becomes bound, and is then a matter of who expands it. */
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
