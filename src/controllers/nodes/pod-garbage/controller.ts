/** Removes pods that no kubelet will terminate: pods of deleted nodes, deleted unscheduled pods, surplus ended pods. */
import { type Controller, type ReconcileContext, watch } from '../../../client/controller/controller.ts'
import { keyOf } from '../../../client/informers/informer.ts'
import { nodes, type Pod, pods } from '../../../client/kinds.ts'
import { ignoreNotFound, isNotFound } from '../../api-errors.ts'
import { withDisruption } from '../../pods/disruption.ts'
import { hasEnded } from '../../pods/phase.ts'
import { byNode } from '../pods-of-node.ts'
import { ended, isDeclaredLost, isOnLostNode, isUnscheduledAndDeleted, surplusEndedPods } from './garbage-pods.ts'
import { PodGarbageMetrics, type RemovalReason } from './metrics.ts'

export interface PodGarbageOptions {
  /** Maximum number of ended pods (`--terminated-pod-gc-threshold`); no limit if 0 or less. */
  readonly maxEnded: number
  /** Time between the deletion of a node and that of its pods, in ms. Default: 40 s. */
  readonly quarantineMs?: number
  /** Period of counting ended pods, and grace period of deleted unscheduled pods, in ms. Default: 20 s. */
  readonly periodMs?: number
  /** Default: metrics that are not exported. */
  readonly metrics?: PodGarbageMetrics
  readonly now?: () => number
}

/** The work queue key for counting ended pods. */
const count = 'count'

export function podGarbage({
  maxEnded,
  quarantineMs = 40_000,
  periodMs = 20_000,
  metrics = new PodGarbageMetrics(),
  now = Date.now,
}: PodGarbageOptions): Controller {
  /** Times since which nodes are missing, by name. */
  const missingSince = new Map<string, number>()
  let isCountPending = false
  return {
    name: 'pod-garbage-collector-controller',
    watches: [
      watch({
        resource: pods,
        *keys(pod) {
          if (pod.spec?.nodeName || pod.metadata.deletionTimestamp) yield keyOf(pod)
        },
        onChange(pod, before, { requeue }) {
          if (maxEnded <= 0 || isCountPending || !pod || !hasEnded(pod) || (before && hasEnded(before))) return
          isCountPending = true
          requeue(count, periodMs)
        },
      }),
      watch({
        resource: nodes,
        keys: () => [],
        onChange(node, before, { caches, requeue }) {
          const name = (node ?? before)?.metadata.name ?? ''
          if (node) missingSince.delete(name)
          if (!node || isDeclaredLost(node)) for (const pod of caches.by(pods, byNode, name)) requeue(keyOf(pod))
        },
      }),
    ],
    async reconcile(key, context) {
      const { caches, client, requeue } = context
      if (key === count) {
        isCountPending = false
        for (const pod of surplusEndedPods([...caches.by(pods, ended, 'ended')], maxEnded))
          await remove(pod, 'terminated', metrics, context)
        return
      }
      const [namespace = '', name = ''] = key.split('/')
      const pod = caches.get(pods, namespace, name)
      if (!pod) return
      if (isUnscheduledAndDeleted(pod)) {
        // Gives clients that wait for its end, or hold a finalizer, time to read the pod.
        const waitMs = Date.parse(pod.metadata.deletionTimestamp ?? '') + periodMs - now()
        return waitMs > 0 ? requeue(key, waitMs) : remove(pod, 'unscheduled', metrics, context)
      }
      const { nodeName } = pod.spec ?? {}
      if (!nodeName) return
      const node = caches.get(nodes, '', nodeName)
      if (isOnLostNode(pod, node)) return remove(pod, 'out-of-service', metrics, context)
      if (node) return
      const since = missingSince.get(nodeName) ?? now()
      missingSince.set(nodeName, since)
      const remainingMs = since + quarantineMs - now()
      if (remainingMs > 0) return requeue(key, remainingMs)
      // A node missing in the cache may be new.
      if (await client.get(nodes, '', nodeName).catch(ignoreNotFound)) return
      await remove(
        pod,
        'orphaned',
        metrics,
        context,
        withDisruption(pod, 'DeletionByPodGC', 'PodGC: node no longer exists', now()),
      )
      if ([...caches.by(pods, byNode, nodeName)].length <= 1) missingSince.delete(nodeName)
    },
  }
}

/** Sets a pod without a known end to Failed and deletes it without a grace period. */
async function remove(
  pod: Pod,
  reason: RemovalReason,
  metrics: PodGarbageMetrics,
  { client }: ReconcileContext,
  status: object = {},
): Promise<void> {
  const { namespace = '', name = '', uid } = pod.metadata
  try {
    if (!hasEnded(pod)) {
      await client
        .patch(
          pods,
          namespace,
          name,
          { metadata: { uid }, status: { phase: 'Failed', ...status } },
          'strategic',
          'status',
        )
        .catch(ignoreNotFound)
    }
    await client.delete(pods, namespace, name, { uid, gracePeriodSeconds: 0 })
    metrics.countRemoval(namespace, reason)
  } catch (error) {
    if (isNotFound(error)) return
    metrics.countFailure(namespace, reason)
    throw error
  }
}
