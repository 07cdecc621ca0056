/** Carries out the plan of a claim. */
import { claimClass } from '../../../api/core/storage/binding/storage-class.ts'
import type { ReconcileContext } from '../../../client/controller/controller.ts'
import { keyOf } from '../../../client/informers/informer.ts'
import {
  type PersistentVolume,
  type PersistentVolumeClaim,
  pods,
  storageClasses,
  persistentVolumes as volumes,
} from '../../../client/kinds.ts'
import { hasEnded } from '../../pods/phase.ts'
import { type ClaimLookups, type PlannedEvent, planClaim } from './decisions/claim-plan.ts'
import type { EventThrottle } from './event-throttle.ts'
import { freeVolumesByClass, volumesByClaim, waitingPods } from './indexes.ts'
import type { OverlayCache } from './overlay-cache.ts'
import type { HostPathOptions } from './provision/host-path.ts'
import { provision } from './provision/provision.ts'
import type { BinderWrites } from './writes.ts'

export interface ClaimOptions {
  /** Period of retrying pending claims, in ms. */
  readonly syncPeriodMs: number
  readonly dynamicProvisioning: boolean
  readonly hostPath: HostPathOptions
}

export class ClaimSync {
  readonly #options: ClaimOptions
  readonly #volumes: OverlayCache<PersistentVolume>
  readonly #writes: BinderWrites
  readonly #throttle: EventThrottle

  constructor(
    options: ClaimOptions,
    volumeCache: OverlayCache<PersistentVolume>,
    writes: BinderWrites,
    throttle: EventThrottle,
  ) {
    this.#options = options
    this.#volumes = volumeCache
    this.#writes = writes
    this.#throttle = throttle
  }

  async sync(claim: PersistentVolumeClaim, context: ReconcileContext): Promise<void> {
    const plan = planClaim(claim, this.#lookups(context))
    switch (plan.step) {
      case 'bind':
        await this.#writes.bind(plan.volume, claim, context)
        return this.#throttle.forget(keyOf(claim))
      case 'lose':
        return this.#writes.claimStatus(claim, 'Lost', undefined, context, plan.event)
      case 'name class':
        await this.#writes.claim({ ...claim, spec: { ...claim.spec, storageClassName: plan.className } }, context)
        return
      case 'wait':
        if (plan.event) this.#recordThrottled(claim, plan.event, context)
        return this.#writes.claimStatus(claim, 'Pending', undefined, context)
      case 'provision':
        return this.#provision(claim, plan.className, context)
      case 'nothing':
        return
      default:
        plan satisfies never
    }
  }

  async #provision(claim: PersistentVolumeClaim, className: string, context: ReconcileContext): Promise<void> {
    const { dynamicProvisioning, hostPath } = this.#options
    if (!dynamicProvisioning) return
    const storageClass = context.caches.get(storageClasses, '', className)
    const event = await provision(claim, className, storageClass, hostPath, this.#writes, context)
    this.#recordThrottled(claim, event, context)
  }

  /** Records an event and requeues the claim, unless the event was recorded recently. */
  #recordThrottled(claim: PersistentVolumeClaim, event: PlannedEvent, { events, requeue }: ReconcileContext): void {
    const key = keyOf(claim)
    if (!this.#throttle.shouldRecord(key, event)) return
    events.record(claim, event.type, event.reason, event.message)
    requeue(key, this.#options.syncPeriodMs)
  }

  #lookups({ caches }: ReconcileContext): ClaimLookups {
    const written = this.#volumes
    return {
      volume: (name) => written.get(caches, '', name),
      *candidates(claim) {
        yield* written.of(caches.by(volumes, volumesByClaim, keyOf(claim)))
        yield* written.of(caches.by(volumes, freeVolumesByClass, `class ${claimClass(claim)}`))
      },
      storageClass: (name) => caches.get(storageClasses, '', name),
      storageClasses: () => caches.all(storageClasses),
      waitingPods: (claim) =>
        [...caches.by(pods, waitingPods, keyOf(claim))]
          .filter((pod) => !hasEnded(pod))
          .map(({ metadata }) => metadata.name ?? '')
          .sort(),
    }
  }
}
