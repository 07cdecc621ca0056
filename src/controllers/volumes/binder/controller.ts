/**
 * Finds volumes for claims, has them made where there are none, and decides what becomes of those that are given back.
 */

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
import { hasEnded } from '../../pods/phase.ts'
import { unlessGone } from '../../refusals.ts'
import { claimsOfPod } from '../pod-claims.ts'
import { type ClaimSurroundings, planClaim, type Told } from './claim-plan.ts'
import { claimKey, claimsByVolume, freeVolumesByClass, noClassNamed, unboundClaims, volumesByClaim } from './indexes.ts'
import { Latest } from './latest.ts'
import { volumeMetrics } from './metrics.ts'
import type { HostPathOptions } from './provision/host-path.ts'
import { provision } from './provision/provision.ts'
import { reclaim } from './reclaim/reclaim.ts'
import { recycledBy } from './reclaim/recycle.ts'
import { Tellings } from './tellings.ts'
import { finalizersFor, planVolume } from './volume-plan.ts'
import { BinderWrites } from './writes.ts'

export interface BinderOptions {
  /** How often claims that wait and volumes that could not be deleted are looked at requeue, in ms. */
  readonly syncPeriodMs: number
  readonly dynamicProvisioning: boolean
  readonly hostPath: HostPathOptions
  /** Where it tells how many there are; nowhere unless said. */
  readonly registry?: MetricsRegistry
  /** Milliseconds. */
  readonly now: () => number
}

export function volumeBinder({
  syncPeriodMs,
  dynamicProvisioning,
  hostPath,
  registry,
  now,
}: BinderOptions): Controller {
  const ofVolumes = new Latest<PersistentVolume>(volumes)
  const ofClaims = new Latest<PersistentVolumeClaim>(claims)
  const writes = new BinderWrites(ofVolumes, ofClaims)
  const tellings = new Tellings(syncPeriodMs, now)

  async function syncClaim(key: string, context: ReconcileContext): Promise<void> {
    const { caches, requeue } = context
    const [namespace = '', name = ''] = key.split('/')
    const claim = ofClaims.get(caches, namespace, name)
    if (!claim) return tellings.forget(key)
    const plan = planClaim(claim, surroundings(context))
    const tell = (told: Told): void => {
      if (!tellings.isNew(key, told)) return
      context.events.record(claim, told.type, told.reason, told.message)
      requeue(key, syncPeriodMs)
    }
    switch (plan.step) {
      case 'bind':
        await writes.bind(plan.volume, claim, context)
        return tellings.forget(key)
      case 'lose':
        return writes.claimStatus(claim, 'Lost', undefined, context, plan.told)
      case 'name class':
        await writes.claim({ ...claim, spec: { ...claim.spec, storageClassName: plan.className } }, context)
        return
      case 'wait':
        if (plan.told) tell(plan.told)
        return writes.claimStatus(claim, 'Pending', undefined, context)
      case 'provision':
        if (!dynamicProvisioning) return
        return tell(
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
    const known = ofVolumes.get(caches, '', name)
    if (!known) return tellings.forget(name)
    const finalizers = finalizersFor(known)
    const volume = finalizers
      ? await writes.volume({ ...known, metadata: { ...known.metadata, finalizers } }, context)
      : known
    const [namespace = '', claimName = ''] = claimKey(volume)?.split('/') ?? []
    const cached = claimName ? ofClaims.get(caches, namespace, claimName) : undefined
    const first = planVolume(volume, cached)
    // Its data may go now. The claim may have been made, and been given this volume by others, a moment ago: the server
    // knows.
    const plan =
      first.step === 'release' && !isGivenBack(volume)
        ? planVolume(volume, await context.client.find(claims, namespace, claimName))
        : first
    switch (plan.step) {
      case 'phase':
        await writes.volumePhase(volume, plan.phase, context)
        return
      case 'unbind':
        return writes.unbind(volume, context)
      case 'look at claim':
        return requeue(`${namespace}/${claimName}`)
      case 'mismatch': {
        const why = 'due to incompatible volumeMode.'
        const told = { type: 'Warning', reason: 'VolumeMismatch' } as const
        const ofVolume = {
          ...told,
          message: `Cannot bind PersistentVolume to requested PersistentVolumeClaim "${claimName}" ${why}`,
        }
        if (!tellings.isNew(name, ofVolume)) return
        events.record(volume, ofVolume.type, ofVolume.reason, ofVolume.message)
        events.record(
          plan.claim,
          told.type,
          told.reason,
          `Cannot bind PersistentVolume "${name}" to requested PersistentVolumeClaim ${why}`,
        )
        return
      }
      case 'release': {
        const released =
          volume.status?.phase === 'Failed' ? volume : await writes.volumePhase(volume, 'Released', context)
        const isFailed = await reclaim(released, hostPath, writes, context)
        if (isFailed && tellings.isNew(name, { type: 'Warning', reason: 'Failed', message: 'tried again later' }))
          requeue(name, syncPeriodMs)
        return
      }
      default:
        plan satisfies never
    }
  }

  function surroundings({ caches }: ReconcileContext): ClaimSurroundings {
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
        onChange: (claim, before) => ofClaims.changed(claim, before),
        *keys(claim, caches) {
          yield keyOf(claim)
          if (claim.spec?.volumeName) yield claim.spec.volumeName
          for (const { metadata } of caches.by(volumes, volumesByClaim, keyOf(claim))) yield metadata.name ?? ''
        },
      }),
      watch({
        resource: volumes,
        onChange: (volume, before) => ofVolumes.changed(volume, before),
        *keys(volume, caches) {
          const name = volume.metadata.name ?? ''
          yield name
          const key = claimKey(volume)
          if (key) yield key
          for (const claim of caches.by(claims, claimsByVolume, name)) yield keyOf(claim)
          // Whoever waits for one like it.
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
            for (const claim of caches.by(claims, unboundClaims, noClassNamed)) yield keyOf(claim)
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
    // What has gone meanwhile brings its own change.
    reconcile: (key, context) =>
      (key.includes('/') ? syncClaim(key, context) : syncVolume(key, context)).catch(unlessGone),
  }
}

const isGivenBack = ({ status }: PersistentVolume): boolean =>
  status?.phase === 'Released' || status?.phase === 'Failed'

/** Pods without a node, by their claims. */
const waitingPods = (pod: Pod): readonly string[] => (pod.spec?.nodeName ? [] : claimsOfPod(pod))
