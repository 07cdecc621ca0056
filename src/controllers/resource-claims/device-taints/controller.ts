/** Evicts pods that use devices whose taints (in ResourceSlices) they do not tolerate, or no longer. */

import { byClaim, claimNames, usesClaims } from '../../../api/dra/pod-claims.ts'
import { type Caches, type Controller, type ReconcileContext, watch } from '../../../client/controller/controller.ts'
import { keyOf } from '../../../client/informers/informer.ts'
import {
  resourceClaims as claims,
  type Pod,
  pods,
  type ResourceClaim,
  resourceSlices as slices,
} from '../../../client/kinds.ts'
import { ignoreNotFound } from '../../api-errors.ts'
import { maxDelayMs } from '../../max-delay.ts'
import { withDisruption } from '../../pods/disruption.ts'
import { deviceTaintMetrics, type EvictionMetrics } from '../../pods/eviction-metrics.ts'
import { isDone } from '../claims.ts'
import { byPool, evictionTime, isReservedFor, poolKey, taintsOfDevice } from './eviction-time.ts'

const byUsedPool = ({ status }: ResourceClaim): Iterable<string> =>
  new Set((status?.allocation?.devices?.results ?? []).map(({ driver, pool }) => poolKey(driver, pool)))

function* podsOf({ metadata }: ResourceClaim, caches: Caches): Generator<string> {
  for (const pod of caches.by(pods, byClaim, `${metadata.namespace}/${metadata.name}`)) yield keyOf(pod)
}

/** `now` returns ms. */
export function deviceTaintEviction(
  metrics: EvictionMetrics = deviceTaintMetrics(),
  now: () => number = Date.now,
): Controller {
  /** Uids of pods with a scheduled eviction. */
  const scheduled = new Set<string>()
  /** Uids of pods that were deleted, which the cache may still contain. */
  const evicted = new Set<string>()
  return {
    name: 'device-taint-eviction-controller',
    watches: [
      watch({
        resource: pods,
        *keys(pod) {
          if (usesClaims(pod)) yield keyOf(pod)
        },
        onChange(pod, old) {
          if (pod || !old) return
          scheduled.delete(old.metadata.uid ?? '')
          evicted.delete(old.metadata.uid ?? '')
        },
      }),
      watch({ resource: claims, keys: podsOf }),
      watch({
        resource: slices,
        *keys(slice, caches) {
          for (const claim of caches.by(claims, byUsedPool, byPool(slice)[0])) yield* podsOf(claim, caches)
        },
      }),
    ],
    async reconcile(key, context) {
      const { caches, events, requeue } = context
      const [namespace = '', name = ''] = key.split('/')
      const pod = caches.get(pods, namespace, name)
      if (!pod?.spec?.nodeName || pod.metadata.deletionTimestamp || isDone(pod)) return
      const { uid = '' } = pod.metadata
      if (evicted.has(uid)) return
      const remainingMs = evictionTimeOf(pod, caches) - now()
      if (remainingMs === Number.POSITIVE_INFINITY) {
        if (scheduled.delete(uid))
          events.record(subject(pod), 'Normal', 'DeviceTaintManagerEviction', 'Cancelling deletion')
        return
      }
      scheduled.add(uid)
      if (remainingMs > 0) requeue(key, Math.min(remainingMs, maxDelayMs))
      else {
        const isDeleted = await evict(pod, context)
        evicted.add(uid)
        if (isDeleted) metrics.observeEviction(-remainingMs)
      }
    },
  }
}

const evictionTimeOf = (pod: Pod, caches: Caches): number =>
  Math.min(
    Number.POSITIVE_INFINITY,
    ...claimNames(pod).map((name) => {
      const claim = caches.get(claims, pod.metadata.namespace ?? '', name)
      if (!claim || !isReservedFor(claim, pod)) return Number.POSITIVE_INFINITY
      return evictionTime(claim, (driver, pool, device) =>
        taintsOfDevice(caches.by(slices, byPool, poolKey(driver, pool)), device),
      )
    }),
  )

const subject = ({ metadata: { namespace, name, uid } }: Pod) => ({
  apiVersion: 'v1',
  kind: 'Pod',
  namespace,
  name,
  uid,
})

/** Resolves with true if the pod was deleted now. Records no event for a missing pod, and only one despite retries. */
async function evict(pod: Pod, { client, events, clock }: ReconcileContext): Promise<boolean> {
  const { namespace = '', name = '', uid } = pod.metadata
  const status = withDisruption(
    pod,
    'DeletionByDeviceTaintManager',
    'Device Taint manager: deleting due to NoExecute taint',
    clock.now(),
  )
  const marked = await client
    .patch(pods, namespace, name, { metadata: { uid }, status }, 'strategic', 'status')
    .catch(ignoreNotFound)
  if (!marked) return false
  events.record(subject(pod), 'Normal', 'DeviceTaintManagerEviction', 'Marking for deletion')
  return (await client.delete(pods, namespace, name, { uid }).then(() => true, ignoreNotFound)) === true
}
