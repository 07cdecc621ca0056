/** Monitors nodes: silent ones become Unknown and get taints; their pods become unready and are evicted later. */
import { type Controller, type ReconcileContext, reads, watch } from '../../../client/controller/controller.ts'
import { leases, type Node, nodes, type Pod, pods } from '../../../client/kinds.ts'
import { byNode } from '../pods-of-node.ts'
import { type GracePeriods, readyCondition } from './health.ts'
import { olderLabels } from './labels.ts'
import { NodeMetrics } from './metrics.ts'
import { evictionsKey, NodeChecks } from './node-checks.ts'
import { NodeMonitor } from './node-monitor.ts'
import { markNotReady } from './pods.ts'
import { withConditionTaints } from './taints.ts'
import { updateNode } from './update-node.ts'
import type { EvictionRates } from './zones.ts'

export interface NodeLifecycleOptions {
  readonly grace: GracePeriods
  readonly rates: EvictionRates
  /** Period of checking all nodes, in ms (`--node-monitor-period`). */
  readonly periodMs: number
  /** Default: metrics that are not exported. */
  readonly metrics?: NodeMetrics
  readonly now?: () => number
}

/** Work queue keys: the check of all nodes, its periodic tick, one node, one pod. */
const healthKey = 'health'
const tickKey = 'tick'
const nodeKey = (name: string): string => `node/${name}`
const podKey = ({ metadata }: Pod): string => `pod/${metadata.namespace}/${metadata.name}`
const concurrency = 8

export function nodeLifecycle({
  grace,
  rates,
  periodMs,
  metrics = new NodeMetrics(),
  now = Date.now,
}: NodeLifecycleOptions): Controller {
  const monitor = new NodeMonitor(grace, rates)
  const checks = new NodeChecks(monitor, metrics, now)
  metrics.setZoneSource(() => monitor.counts)
  let isTicking = false
  return {
    name: 'node-lifecycle-controller',
    component: 'node-controller',
    concurrency,
    watches: [
      watch({
        resource: nodes,
        keys: ({ metadata }) => [nodeKey(metadata.name ?? '')],
        onChange: nodeChanged,
      }),
      // Leases in other namespaces are few, and the garbage collector watches all anyway.
      reads(leases),
      watch({
        resource: pods,
        keys: () => [],
        onChange(pod, old, { requeue }) {
          if (pod?.spec?.nodeName && old?.spec?.nodeName !== pod.spec.nodeName) requeue(podKey(pod))
        },
      }),
    ],
    async reconcile(key, context) {
      const { caches, requeue } = context
      if (key === tickKey) {
        isTicking = false
        return requeue(healthKey)
      }
      if (key === healthKey) {
        const all = [...caches.all(nodes)]
        // Without nodes the tick stops.
        if (all.length > 0 && !isTicking) {
          isTicking = true
          requeue(tickKey, periodMs)
        }
        return checks.checkAll(all, context)
      }
      if (key === evictionsKey) return checks.evict(context)
      const [kind, first = '', second = ''] = key.split('/')
      return kind === 'pod' ? syncPod(first, second, now(), context) : syncNode(first, now(), context)
    },
  }
}

/** Requeues the check of all nodes, and the pods of a node that became Unknown. */
function nodeChanged(node: Node | undefined, old: Node | undefined, { caches, requeue }: ReconcileContext): void {
  const status = node && readyCondition(node)?.status
  if (node && old && readyCondition(old)?.status === status) return
  requeue(healthKey)
  if (old && status === 'Unknown')
    for (const pod of caches.by(pods, byNode, old.metadata.name ?? '')) requeue(podKey(pod))
}

async function syncPod(namespace: string, name: string, now: number, context: ReconcileContext): Promise<void> {
  const pod = context.caches.get(pods, namespace, name)
  const node = pod && context.caches.get(nodes, '', pod.spec?.nodeName ?? '')
  const ready = node && readyCondition(node)
  if (pod && ready && ready.status !== 'True') await markNotReady(pod, context, now)
}

async function syncNode(name: string, now: number, context: ReconcileContext): Promise<void> {
  const node = context.caches.get(nodes, '', name)
  if (node) await updateNode(node, { taints: withConditionTaints(node, now), labels: olderLabels(node) }, context)
}
