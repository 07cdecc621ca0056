/** Binds claims to volumes, provisions missing volumes, and reclaims released ones. */

import { isMatch } from '../../../api/core/storage/binding/matching.ts'
import { claimClass, isDefault, volumeClass } from '../../../api/core/storage/binding/storage-class.ts'
import { type Controller, type ReconcileContext, watch } from '../../../client/controller/controller.ts'
import { keyOf } from '../../../client/informers/informer.ts'
import {
  persistentVolumeClaims as claims,
  type PersistentVolume,
  type PersistentVolumeClaim,
  type Pod,
  pods,
  type StorageClass,
  storageClasses,
  persistentVolumes as volumes,
} from '../../../client/kinds.ts'
import type { MetricsRegistry } from '../../../lib/metrics/registry.ts'
import { ignoreNotFound } from '../../api-errors.ts'
import { hasEnded } from '../../pods/phase.ts'
import { claimsOfPod } from '../pod-claims.ts'
import { type ClaimLookups, type PlannedEvent, planClaim } from './claim-plan.ts'
import { EventThrottle } from './event-throttle.ts'
import { claimKey, claimsByVolume, freeVolumesByClass, unboundClaims, volumesByClaim, withoutClass } from './indexes.ts'
import { volumeMetrics } from './metrics.ts'
import { OverlayCache } from './overlay-cache.ts'
import type { HostPathOptions } from './provision/host-path.ts'
import { provision } from './provision/provision.ts'
import { reclaim } from './reclaim/reclaim.ts'
import { recycledBy } from './reclaim/recycle.ts'
import { finalizersFor, planVolume } from './volume-plan.ts'
import { BinderWrites } from './writes.ts'

export interface BinderOptions {
  /** Period of retrying pending claims and failed deletions of volumes, in ms. */
  readonly syncPeriodMs: number
  readonly dynamicProvisioning: boolean
  readonly hostPath: HostPathOptions
  /** For the metrics. Default: no metrics. */
  readonly registry?: MetricsRegistry
  /** Returns ms. */
  readonly now: () => number
}

export function volumeBinder({
  syncPeriodMs,
  dynamicProvisioning,
  hostPath,
  registry,
  now,
}: BinderOptions): Controller {
  const ofVolumes = new OverlayCache<PersistentVolume>(volumes)
  const ofClaims = new OverlayCache<PersistentVolumeClaim>(claims)
  const writes = new BinderWrites(ofVolumes, ofClaims)
  const throttle = new EventThrottle(syncPeriodMs, now)

  async function syncClaim(key: string, context: ReconcileContext): Promise<void> {
    const { caches, requeue } = context
    const [namespace = '', name = ''] = key.split('/')
    const claim = ofClaims.get(caches, namespace, name)
    if (!claim) return throttle.forget(key)
    const plan = planClaim(claim, lookups(context))
    const recordThrottled = (event: PlannedEvent): void => {
      if (!throttle.shouldRecord(key, event)) return
      context.events.record(claim, event.type, event.reason, event.message)
      requeue(key, syncPeriodMs)
    }
    switch (plan.step) {
      case 'bind':
        await writes.bind(plan.volume, claim, context)
        return throttle.forget(key)
      case 'lose':
        return writes.claimStatus(claim, 'Lost', undefined, context, plan.event)
      case 'name class':
        await writes.claim({ ...claim, spec: { ...claim.spec, storageClassName: plan.className } }, context)
        return
      case 'wait':
        if (plan.event) recordThrottled(plan.event)
        return writes.claimStatus(claim, 'Pending', undefined, context)
      case 'provision':
        if (!dynamicProvisioning) return
        return recordThrottled(
          await provision(
            claim,
            plan.className,
            caches.get(storageClasses, '', plan.className),
            hostPath,
            writes,
            context,
          ),
        )
      case 'nothing':
        return
      default:
        plan satisfies never
    }
  }

  async function syncVolume(name: string, context: ReconcileContext): Promise<void> {
    const { caches, events, requeue } = context
    const current = ofVolumes.get(caches, '', name)
    if (!current) return throttle.forget(name)
    const finalizers = finalizersFor(current)
    const volume = finalizers
      ? await writes.volume({ ...current, metadata: { ...current.metadata, finalizers } }, context)
      : current
    const [namespace = '', claimName = ''] = claimKey(volume)?.split('/') ?? []
    const cached = claimName ? ofClaims.get(caches, namespace, claimName) : undefined
    const first = planVolume(volume, cached)
    // Releasing may delete data. The claim may have been created and bound to this volume meanwhile: check with the
    // server.
    const plan =
      first.step === 'release' && !isReleased(volume)
        ? planVolume(volume, await context.client.find(claims, namespace, claimName))
        : first
    switch (plan.step) {
      case 'phase':
        await writes.volumePhase(volume, plan.phase, context)
        return
      case 'unbind':
        return writes.unbind(volume, context)
      case 'reconcile claim':
        return requeue(`${namespace}/${claimName}`)
      case 'mismatch': {
        const why = 'due to incompatible volumeMode.'
        const event = { type: 'Warning', reason: 'VolumeMismatch' } as const
        const ofVolume = {
          ...event,
          message: `Cannot bind PersistentVolume to requested PersistentVolumeClaim "${claimName}" ${why}`,
        }
        if (!throttle.shouldRecord(name, ofVolume)) return
        events.record(volume, ofVolume.type, ofVolume.reason, ofVolume.message)
        events.record(
          plan.claim,
          event.type,
          event.reason,
          `Cannot bind PersistentVolume "${name}" to requested PersistentVolumeClaim ${why}`,
        )
        return
      }
      case 'release': {
        const released =
          volume.status?.phase === 'Failed' ? volume : await writes.volumePhase(volume, 'Released', context)
        const isFailed = await reclaim(released, hostPath, writes, context)
        if (isFailed && throttle.shouldRecord(name, { type: 'Warning', reason: 'Failed', message: 'retried later' }))
          requeue(name, syncPeriodMs)
        return
      }
      default:
        plan satisfies never
    }
  }

  function lookups({ caches }: ReconcileContext): ClaimLookups {
    return {
      volume: (name) => ofVolumes.get(caches, '', name),
      *candidates(claim) {
        yield* ofVolumes.of(caches.by(volumes, volumesByClaim, keyOf(claim)))
        yield* ofVolumes.of(caches.by(volumes, freeVolumesByClass, `class ${claimClass(claim)}`))
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

  return {
    name: 'persistentvolume-binder-controller',
    component: 'persistentvolume-controller',
    watches: [
      watch({
        resource: claims,
        onChange: (claim, before) => ofClaims.observe(claim, before),
        *keys(claim, caches) {
          yield keyOf(claim)
          if (claim.spec?.volumeName) yield claim.spec.volumeName
          for (const { metadata } of caches.by(volumes, volumesByClaim, keyOf(claim))) yield metadata.name ?? ''
        },
      }),
      watch({
        resource: volumes,
        onChange: (volume, before) => ofVolumes.observe(volume, before),
        *keys(volume, caches) {
          const name = volume.metadata.name ?? ''
          yield name
          const key = claimKey(volume)
          if (key) yield key
          for (const claim of caches.by(claims, claimsByVolume, name)) yield keyOf(claim)
          // Claims that wait for such a volume.
          if (!key)
            for (const claim of caches.by(claims, unboundClaims, `class ${volumeClass(volume)}`))
              if (isMatch(volume, claim)) yield keyOf(claim)
        },
      }),
      watch({
        resource: storageClasses,
        *keys(storageClass: StorageClass, caches) {
          for (const claim of caches.by(claims, unboundClaims, `class ${storageClass.metadata.name}`))
            yield keyOf(claim)
          if (isDefault(storageClass))
            for (const claim of caches.by(claims, unboundClaims, withoutClass)) yield keyOf(claim)
        },
      }),
      watch({
        resource: pods,
        *keys(pod, caches) {
          const volume = recycledBy(pod)
          if (volume) yield volume
          for (const key of waitingPods(pod)) {
            const [namespace = '', name = ''] = key.split('/')
            if (caches.get(claims, namespace, name)?.status?.phase === 'Pending') yield key
          }
        },
      }),
    ],
    async run({ caches }) {
      if (registry) volumeMetrics(registry, { volumes: () => caches.all(volumes), claims: () => caches.all(claims) })
    },
    // The deletion of a missing object causes its own watch event.
    reconcile: (key, context) =>
      (key.includes('/') ? syncClaim(key, context) : syncVolume(key, context)).catch(ignoreNotFound),
  }
}

const isReleased = ({ status }: PersistentVolume): boolean => status?.phase === 'Released' || status?.phase === 'Failed'

/** Index function: unscheduled pods by claim. */
const waitingPods = (pod: Pod): readonly string[] => (pod.spec?.nodeName ? [] : claimsOfPod(pod))
