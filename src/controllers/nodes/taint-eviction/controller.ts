/** Evicts pods from nodes whose NoExecute taints they do not tolerate, or no longer. */
import { type Controller, type ReconcileContext, watch } from '../../../client/controller/controller.ts'
import { keyOf } from '../../../client/informers/informer.ts'
import { nodes, type Pod, pods } from '../../../client/kinds.ts'
import { ignoreNotFound } from '../../api-errors.ts'
import { maxDelayMs } from '../../max-delay.ts'
import { withDisruption } from '../../pods/disruption.ts'
import { type EvictionMetrics, nodeTaintMetrics } from '../../pods/eviction-metrics.ts'
import { byNode } from '../pods-of-node.ts'
import { toleratedSeconds } from './tolerance.ts'

const concurrency = 8

/** `now` returns ms. */
export function taintEviction(metrics: EvictionMetrics = nodeTaintMetrics(), now: () => number = Date.now): Controller {
  /** Times since which pods are subject to eviction, by uid. */
  const since = new Map<string, number>()
  /** Uids of pods that were deleted, which the cache may still contain. */
  const evicted = new Set<string>()
  return {
    name: 'taint-eviction-controller',
    concurrency,
    watches: [
      watch({
        resource: pods,
        *keys(pod) {
          if (pod.spec?.nodeName) yield keyOf(pod)
        },
        onChange(pod, old) {
          if (pod || !old) return
          since.delete(old.metadata.uid ?? '')
          evicted.delete(old.metadata.uid ?? '')
        },
      }),
      watch({
        resource: nodes,
        keys: () => [],
        onChange(node, old, { caches, requeue }) {
          const name = (node ?? old)?.metadata.name ?? ''
          if (!isTainted(node) && !isTainted(old)) return
          for (const pod of caches.by(pods, byNode, name)) requeue(keyOf(pod))
        },
      }),
    ],
    async reconcile(key, context) {
      const { caches, requeue } = context
      const [namespace = '', name = ''] = key.split('/')
      const pod = caches.get(pods, namespace, name)
      if (!pod || pod.metadata.deletionTimestamp) return
      const { uid = '' } = pod.metadata
      if (evicted.has(uid)) return
      const seconds = toleratedSeconds(pod, caches.get(nodes, '', pod.spec?.nodeName ?? '')?.spec?.taints ?? [])
      if (seconds === Number.POSITIVE_INFINITY) {
        if (since.delete(uid)) recordEviction(pod, 'Cancelling deletion of', context)
        return
      }
      const subjectSince = since.get(uid) ?? now()
      since.set(uid, subjectSince)
      const remainingMs = subjectSince + seconds * 1000 - now()
      if (remainingMs > 0) return requeue(key, Math.min(remainingMs, maxDelayMs))
      await evict(pod, context)
      evicted.add(uid)
      metrics.observeEviction(-remainingMs)
      since.delete(uid)
    },
  }
}

const isTainted = (
  node: { readonly spec?: { readonly taints?: readonly { readonly effect: string }[] } } | undefined,
): boolean => node?.spec?.taints?.some(({ effect }) => effect === 'NoExecute') ?? false

async function evict(pod: Pod, context: ReconcileContext): Promise<void> {
  const { client, clock } = context
  const { namespace = '', name = '', uid } = pod.metadata
  recordEviction(pod, 'Marking for deletion', context)
  const message = 'Taint manager: deleting due to NoExecute taint'
  const status = withDisruption(pod, 'DeletionByTaintManager', message, clock.now())
  await client.patch(pods, namespace, name, { metadata: { uid }, status }, 'strategic', 'status').catch(ignoreNotFound)
  await client.delete(pods, namespace, name, { uid }).catch(ignoreNotFound)
}

function recordEviction({ metadata: { namespace, name, uid } }: Pod, action: string, context: ReconcileContext): void {
  const object = { apiVersion: 'v1', kind: 'Pod', namespace, name, uid }
  context.events.record(object, 'Normal', 'TaintManagerEviction', `${action} Pod ${namespace}/${name}`)
}
