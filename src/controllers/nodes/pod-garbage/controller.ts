/**
 * Removes pods that no kubelet will end: those of nodes that have gone, deleted ones without a node, and too many that
 * have ended.
 */
import { type Controller, type ReconcileContext, watch } from '../../../client/controller/controller.ts'
import { keyOf } from '../../../client/informers/informer.ts'
import { nodes, type Pod, pods } from '../../../client/kinds.ts'
import { withDisruption } from '../../pods/disruption.ts'
import { hasEnded } from '../../pods/phase.ts'
import { isNotFound, unlessGone } from '../../refusals.ts'
import { byNode } from '../pods-of-node.ts'
import { ended, isDeclaredLost, isOnLostNode, isUnscheduledAndDeleted, surplus } from './choices.ts'
import { PodGarbageMetrics, type RemovalReason } from './metrics.ts'

export interface PodGarbageOptions {
  /** How many pods that have ended are kept (`--terminated-pod-gc-threshold`); all if it is 0 or less. */
  readonly kept: number
  /** How long a node has to be gone before its pods go, in ms; 40 s unless said. */
  readonly quarantineMs?: number
  /**
   * How often pods that have ended are counted while their number grows, and how long deleted ones without a node may
   * take, in ms; 20 s unless said.
   */
  readonly periodMs?: number
  /** Counts nothing that anybody sees unless said. */
  readonly metrics?: PodGarbageMetrics
  readonly now?: () => number
}

/** A key that is no pod's. */
const count = 'count'

export function podGarbage({
  kept,
  quarantineMs = 40_000,
  periodMs = 20_000,
  metrics = new PodGarbageMetrics(),
  now = Date.now,
}: PodGarbageOptions): Controller {
  /** Since when nodes are missed. */
  const missed = new Map<string, number>()
  let counts = false
  return {
    name: 'pod-garbage-collector-controller',
    watches: [
      watch({
        resource: pods,
        *keys(pod) {
          if (pod.spec?.nodeName || pod.metadata.deletionTimestamp) yield keyOf(pod)
        },
        onChange(pod, before, { requeue }) {
          if (kept <= 0 || counts || !pod || !hasEnded(pod) || (before && hasEnded(before))) return
          counts = true
          requeue(count, periodMs)
        },
      }),
      watch({
        resource: nodes,
        keys: () => [],
        onChange(node, before, { caches, requeue }) {
          const name = (node ?? before)?.metadata.name ?? ''
          if (node) missed.delete(name)
          if (!node || isDeclaredLost(node)) for (const pod of caches.by(pods, byNode, name)) requeue(keyOf(pod))
        },
      }),
    ],
    async reconcile(key, context) {
      const { caches, client, requeue } = context
      if (key === count) {
        counts = false
        for (const pod of surplus([...caches.by(pods, ended, 'ended')], kept))
          await remove(pod, 'terminated', metrics, context)
        return
      }
      const [namespace = '', name = ''] = key.split('/')
      const pod = caches.get(pods, namespace, name)
      if (!pod) return
      if (isUnscheduledAndDeleted(pod)) {
        // Who waits for its end, or holds it by a finalizer, has this long to see it as it was.
        const waitMs = Date.parse(pod.metadata.deletionTimestamp ?? '') + periodMs - now()
        return waitMs > 0 ? requeue(key, waitMs) : remove(pod, 'unscheduled', metrics, context)
      }
      const { nodeName } = pod.spec ?? {}
      if (!nodeName) return
      const node = caches.get(nodes, '', nodeName)
      if (isOnLostNode(pod, node)) return remove(pod, 'out-of-service', metrics, context)
      if (node) return
      const since = missed.get(nodeName) ?? now()
      missed.set(nodeName, since)
      const leftMs = since + quarantineMs - now()
      if (leftMs > 0) return requeue(key, leftMs)
      // What the cache does not have may be new.
      if (await client.get(nodes, '', nodeName).catch(unlessGone)) return
      await remove(
        pod,
        'orphaned',
        metrics,
        context,
        withDisruption(pod, 'DeletionByPodGC', 'PodGC: node no longer exists', now()),
      )
      if ([...caches.by(pods, byNode, nodeName)].length <= 1) missed.delete(nodeName)
    },
  }
}

/** A pod that nobody can tell about has failed, and goes at once. */
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
        .catch(unlessGone)
    }
    await client.delete(pods, namespace, name, { uid, gracePeriodSeconds: 0 })
    metrics.removed(namespace, reason)
  } catch (error) {
    if (isNotFound(error)) return
    metrics.failed(namespace, reason)
    throw error
  }
}
