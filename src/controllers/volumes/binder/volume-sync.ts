/** Carries out the plan of a volume. */
import type { ReconcileContext } from '../../../client/controller/controller.ts'
import {
  persistentVolumeClaims as claims,
  type PersistentVolume,
  type PersistentVolumeClaim,
} from '../../../client/kinds.ts'
import { finalizersFor, planVolume, type VolumePlan } from './decisions/volume-plan.ts'
import type { EventThrottle } from './event-throttle.ts'
import { claimKey } from './indexes.ts'
import type { OverlayCache } from './overlay-cache.ts'
import type { HostPathOptions } from './provision/host-path.ts'
import { reclaim } from './reclaim/reclaim.ts'
import type { BinderWrites } from './writes.ts'

export interface VolumeOptions {
  /** Period of retrying failed deletions of volumes, in ms. */
  readonly syncPeriodMs: number
  readonly hostPath: HostPathOptions
}

export class VolumeSync {
  readonly #options: VolumeOptions
  readonly #claims: OverlayCache<PersistentVolumeClaim>
  readonly #writes: BinderWrites
  readonly #throttle: EventThrottle

  constructor(
    options: VolumeOptions,
    claimCache: OverlayCache<PersistentVolumeClaim>,
    writes: BinderWrites,
    throttle: EventThrottle,
  ) {
    this.#options = options
    this.#claims = claimCache
    this.#writes = writes
    this.#throttle = throttle
  }

  async sync(cached: PersistentVolume, context: ReconcileContext): Promise<void> {
    const volume = await this.#updateFinalizers(cached, context)
    const plan = await this.#plan(volume, context)
    switch (plan.step) {
      case 'phase':
        await this.#writes.volumePhase(volume, plan.phase, context)
        return
      case 'unbind':
        return this.#writes.unbind(volume, context)
      case 'reconcile claim':
        return context.requeue(claimKey(volume) ?? '')
      case 'mismatch':
        return this.#recordMismatch(volume, plan.claim, context)
      case 'release':
        return this.#release(volume, context)
      default:
        plan satisfies never
    }
  }

  async #updateFinalizers(volume: PersistentVolume, context: ReconcileContext): Promise<PersistentVolume> {
    const finalizers = finalizersFor(volume)
    if (!finalizers) return volume
    return this.#writes.volume({ ...volume, metadata: { ...volume.metadata, finalizers } }, context)
  }

  async #plan(volume: PersistentVolume, { caches, client }: ReconcileContext): Promise<VolumePlan> {
    const [namespace = '', name = ''] = claimKey(volume)?.split('/') ?? []
    const plan = planVolume(volume, name ? this.#claims.get(caches, namespace, name) : undefined)
    if (plan.step !== 'release' || isReleased(volume)) return plan
    // Releasing may delete data. The claim may have been created and bound to this volume meanwhile: check with the
    // server.
    return planVolume(volume, await client.find(claims, namespace, name))
  }

  /** Records events on both objects that their volume modes differ. */
  #recordMismatch(volume: PersistentVolume, claim: PersistentVolumeClaim, { events }: ReconcileContext): void {
    const { name = '' } = volume.metadata
    const reason = 'VolumeMismatch'
    const why = 'due to incompatible volumeMode.'
    const message = `Cannot bind PersistentVolume to requested PersistentVolumeClaim "${claim.metadata.name}" ${why}`
    if (!this.#throttle.shouldRecord(name, { type: 'Warning', reason, message })) return
    events.record(volume, 'Warning', reason, message)
    const onClaim = `Cannot bind PersistentVolume "${name}" to requested PersistentVolumeClaim ${why}`
    events.record(claim, 'Warning', reason, onClaim)
  }

  /** Applies the reclaim policy; requeues the volume after a failure. */
  async #release(volume: PersistentVolume, context: ReconcileContext): Promise<void> {
    const { hostPath, syncPeriodMs } = this.#options
    const { name = '' } = volume.metadata
    const isFailed = volume.status?.phase === 'Failed'
    const released = isFailed ? volume : await this.#writes.volumePhase(volume, 'Released', context)
    const mustRetry = await reclaim(released, hostPath, this.#writes, context)
    const event = { type: 'Warning', reason: 'Failed', message: 'retried later' } as const
    if (mustRetry && this.#throttle.shouldRecord(name, event)) context.requeue(name, syncPeriodMs)
  }
}

const isReleased = ({ status }: PersistentVolume): boolean => status?.phase === 'Released' || status?.phase === 'Failed'
