/** Removes pods that no kubelet will terminate: pods of deleted nodes, deleted unscheduled pods, surplus ended pods. */
import { type Controller, watch } from '../../../client/controller/controller.ts'
import { keyOf } from '../../../client/informers/informer.ts'
import { nodes, pods } from '../../../client/kinds.ts'
import { hasEnded } from '../../pods/phase.ts'
import { byNode } from '../pods-of-node.ts'
import { isDeclaredLost } from './garbage-pods.ts'
import { GarbageRemoval } from './garbage-removal.ts'
import { PodGarbageMetrics } from './metrics.ts'

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
const countKey = 'count'

export function podGarbage({
  maxEnded,
  quarantineMs = 40_000,
  periodMs = 20_000,
  metrics = new PodGarbageMetrics(),
  now = Date.now,
}: PodGarbageOptions): Controller {
  const removal = new GarbageRemoval({ quarantineMs, graceMs: periodMs, metrics, now })
  let isCountPending = false
  return {
    name: 'pod-garbage-collector-controller',
    watches: [
      watch({
        resource: pods,
        *keys(pod) {
          if (pod.spec?.nodeName || pod.metadata.deletionTimestamp) yield keyOf(pod)
        },
        onChange(pod, old, { requeue }) {
          if (maxEnded <= 0 || isCountPending || !pod || !hasEnded(pod) || (old && hasEnded(old))) return
          isCountPending = true
          requeue(countKey, periodMs)
        },
      }),
      watch({
        resource: nodes,
        keys: () => [],
        onChange(node, old, { caches, requeue }) {
          const name = (node ?? old)?.metadata.name ?? ''
          if (node) removal.nodeExists(name)
          if (!node || isDeclaredLost(node)) for (const pod of caches.by(pods, byNode, name)) requeue(keyOf(pod))
        },
      }),
    ],
    async reconcile(key, context) {
      if (key === countKey) {
        isCountPending = false
        return removal.removeSurplus(maxEnded, context)
      }
      const [namespace = '', name = ''] = key.split('/')
      const pod = context.caches.get(pods, namespace, name)
      if (pod) await removal.removeIfGarbage(pod, context)
    },
  }
}
