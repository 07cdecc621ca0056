/** Binds claims to volumes, provisions missing volumes, and reclaims released ones. */
import { isMatch } from '../../../api/core/storage/binding/matching.ts'
import { isDefault, volumeClass } from '../../../api/core/storage/binding/storage-class.ts'
import { type Caches, type Controller, type ReconcileContext, watch } from '../../../client/controller/controller.ts'
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
import { ClaimSync } from './claim-sync.ts'
import { EventThrottle } from './event-throttle.ts'
import { claimKey, claimsByVolume, unboundClaims, volumesByClaim, waitingPods, withoutClass } from './indexes.ts'
import { volumeMetrics } from './metrics.ts'
import { OverlayCache } from './overlay-cache.ts'
import type { HostPathOptions } from './provision/host-path.ts'
import { recycledBy } from './reclaim/recycle.ts'
import { VolumeSync } from './volume-sync.ts'
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

export function volumeBinder(options: BinderOptions): Controller {
  const { syncPeriodMs, registry, now } = options
  const volumeCache = new OverlayCache<PersistentVolume>(volumes)
  const claimCache = new OverlayCache<PersistentVolumeClaim>(claims)
  const writes = new BinderWrites(volumeCache, claimCache)
  const throttle = new EventThrottle(syncPeriodMs, now)
  const claimSync = new ClaimSync(options, volumeCache, writes, throttle)
  const volumeSync = new VolumeSync(options, claimCache, writes, throttle)

  async function syncKey(key: string, context: ReconcileContext): Promise<void> {
    if (key.includes('/')) {
      const [namespace = '', name = ''] = key.split('/')
      const claim = claimCache.get(context.caches, namespace, name)
      if (claim) return claimSync.sync(claim, context)
    } else {
      const volume = volumeCache.get(context.caches, '', key)
      if (volume) return volumeSync.sync(volume, context)
    }
    throttle.forget(key)
  }

  return {
    name: 'persistentvolume-binder-controller',
    component: 'persistentvolume-controller',
    watches: [
      watch({
        resource: claims,
        onChange: (claim, old) => claimCache.observe(claim, old),
        keys: keysOfClaim,
      }),
      watch({
        resource: volumes,
        onChange: (volume, old) => volumeCache.observe(volume, old),
        keys: keysOfVolume,
      }),
      watch({ resource: storageClasses, keys: claimsOfClass }),
      watch({ resource: pods, keys: keysOfPod }),
    ],
    async run({ caches }) {
      if (registry) volumeMetrics(registry, { volumes: () => caches.all(volumes), claims: () => caches.all(claims) })
    },
    // The deletion of a missing object causes its own watch event.
    reconcile: (key, context) => syncKey(key, context).catch(ignoreNotFound),
  }
}

/** A claim and the volumes that it references or that reference it. */
function* keysOfClaim(claim: PersistentVolumeClaim, caches: Caches): Generator<string> {
  yield keyOf(claim)
  if (claim.spec?.volumeName) yield claim.spec.volumeName
  for (const { metadata } of caches.by(volumes, volumesByClaim, keyOf(claim))) yield metadata.name ?? ''
}

/** A volume, the claims that it references or that reference it, and claims that wait for such a volume. */
function* keysOfVolume(volume: PersistentVolume, caches: Caches): Generator<string> {
  const name = volume.metadata.name ?? ''
  yield name
  const key = claimKey(volume)
  if (key) yield key
  for (const claim of caches.by(claims, claimsByVolume, name)) yield keyOf(claim)
  if (key) return
  for (const claim of caches.by(claims, unboundClaims, `class ${volumeClass(volume)}`))
    if (isMatch(volume, claim)) yield keyOf(claim)
}

/** The unbound claims of a class; of the default class also those that name none. */
function* claimsOfClass(storageClass: StorageClass, caches: Caches): Generator<string> {
  for (const claim of caches.by(claims, unboundClaims, `class ${storageClass.metadata.name}`)) yield keyOf(claim)
  if (isDefault(storageClass)) for (const claim of caches.by(claims, unboundClaims, withoutClass)) yield keyOf(claim)
}

/** The volume that a pod recycles, and the pending claims of an unscheduled pod. */
function* keysOfPod(pod: Pod, caches: Caches): Generator<string> {
  const volume = recycledBy(pod)
  if (volume) yield volume
  for (const key of waitingPods(pod)) {
    const [namespace = '', name = ''] = key.split('/')
    if (caches.get(claims, namespace, name)?.status?.phase === 'Pending') yield key
  }
}
