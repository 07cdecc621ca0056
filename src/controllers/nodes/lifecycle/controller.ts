/** Monitors nodes: silent ones become Unknown and get taints; their pods become unready and are evicted later. */
import { type Controller, type ReconcileContext, reads, watch } from '../../../client/controller/controller.ts'
import { leases, type Node, nodes, type Pod, pods } from '../../../client/kinds.ts'
import { ignoreNotFound } from '../../api-errors.ts'
import { byNode } from '../pods-of-node.ts'
import { type GracePeriods, type NodeCondition, readyCondition, silentConditions } from './health.ts'
import { olderLabels } from './labels.ts'
import { NodeMetrics } from './metrics.ts'
import { NodeMonitor } from './node-monitor.ts'
import { markNotReady } from './pods.ts'
import { isEvicting, type Taint, withConditionTaints, withEviction, withoutEviction } from './taints.ts'
import { type EvictionRates, zoneOf } from './zones.ts'

export interface NodeLifecycleOptions {
  readonly grace: GracePeriods
  readonly rates: EvictionRates
  /** Period of checking all nodes, in ms (`--node-monitor-period`). */
  readonly periodMs: number
  /** Default: metrics that are not exported. */
  readonly metrics?: NodeMetrics
  readonly now?: () => number
}

const leaseNamespace = 'kube-node-lease'
/** Work queue keys: check all nodes, periodic tick, nodes queued for eviction, one node, one pod. */
const health = 'health'
const tick = 'tick'
const evictions = 'evictions'
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
  const nodeWatch = new NodeMonitor(grace, rates)
  metrics.setZoneSource(() => nodeWatch.counts)
  let isTicking = false

  async function checkAllNodes(context: ReconcileContext): Promise<void> {
    const { caches, requeue } = context
    const all = [...caches.all(nodes)]
    const { added, removed } = nodeWatch.classify(all)
    for (const node of added)
      recordNodeEvent(node.metadata, 'RegisteredNode', `Registered Node ${node.metadata.name} in Controller`, context)
    for (const deleted of removed)
      recordNodeEvent(deleted, 'RemovingNode', `Removing Node ${deleted.name} from Controller`, context)
    // Without nodes the tick stops.
    if (all.length > 0 && !isTicking) {
      isTicking = true
      requeue(tick, periodMs)
    }
    const current = [...all]
    const writes: Promise<void>[] = []
    for (const [at, node] of all.entries()) {
      const began = performance.now()
      const observe = (): void => metrics.observeNodeCheck((performance.now() - began) / 1000)
      const writing = checkNode(node, context)
      if (!writing) observe()
      else writes.push(writing.then((written) => void (current[at] = written)).finally(observe))
    }
    // A failed write of one node does not stop the checks of the others.
    const failed = (await Promise.allSettled(writes)).find((patchNode) => patchNode.status === 'rejected')
    if (nodeWatch.updateZones(current, now()))
      await Promise.all(current.map((node) => write(node, { taints: withoutEviction(node) }, context)))
    requeue(evictions)
    if (failed) throw failed.reason
  }

  /** Resolves with the updated node; returns undefined if nothing must be written, which is the usual case. */
  function checkNode(node: Node, context: ReconcileContext): Promise<Node> | undefined {
    const { name = '' } = node.metadata
    const ready = readyCondition(node)
    const conditions = nodeWatch.isSilent(node, context.caches.get(leases, leaseNamespace, name), now())
      ? silentConditions(node, now())
      : undefined
    if (ready?.status === 'True') nodeWatch.queueOf(node).remove(name)
    if (conditions) return writeSilent(node, conditions, context)
    const taints =
      ready?.status === 'True' ? withoutEviction(node) : isEvicting(node) ? withEviction(node, now()) : undefined
    if (taints) return write(node, { taints }, context)
    if (ready && ready.status !== 'True' && !isEvicting(node)) nodeWatch.queueOf(node).add(name)
    return undefined
  }

  /** Writes the conditions of a silent node, and taints or queues it for eviction. Resolves with the updated node. */
  async function writeSilent(node: Node, conditions: NodeCondition[], context: ReconcileContext): Promise<Node> {
    const { name = '', uid } = node.metadata
    const current = await context.client.updateStatus(nodes, { ...node, status: { ...node.status, conditions } })
    if (readyCondition(node)?.status === 'True') {
      context.events.record(
        { apiVersion: 'v1', kind: 'Node', name, uid },
        'Normal',
        'NodeNotReady',
        `Node ${name} status is now: NodeNotReady`,
      )
    } else if (isEvicting(current)) return write(current, { taints: withEviction(current, now()) }, context)
    else if (readyCondition(current)) nodeWatch.queueOf(node).add(name)
    return current
  }

  /** Adds the NoExecute taint to queued nodes, at the rate of their zones. */
  async function evict(context: ReconcileContext): Promise<void> {
    for (const queue of nodeWatch.queues()) {
      for (let name = queue.take(now()); name !== undefined; name = queue.take(now())) {
        const node = context.caches.get(nodes, '', name)
        const taints = node && withEviction(node, now())
        if (!taints) continue
        await write(node, { taints }, context)
        metrics.countEviction(zoneOf(node))
      }
      const nextMs = queue.nextInMs(now())
      if (nextMs !== undefined) context.requeue(evictions, nextMs)
    }
  }

  return {
    name: 'node-lifecycle-controller',
    component: 'node-controller',
    concurrency,
    watches: [
      watch({
        resource: nodes,
        keys: ({ metadata }) => [nodeKey(metadata.name ?? '')],
        onChange(node, before, { caches, requeue }) {
          const status = node && readyCondition(node)?.status
          if (node && before && readyCondition(before)?.status === status) return
          requeue(health)
          if (before && status === 'Unknown')
            for (const pod of caches.by(pods, byNode, before.metadata.name ?? '')) requeue(podKey(pod))
        },
      }),
      // Leases in other namespaces are few, and the garbage collector watches all anyway.
      reads(leases),
      watch({
        resource: pods,
        keys: () => [],
        onChange(pod, before, { requeue }) {
          if (pod?.spec?.nodeName && before?.spec?.nodeName !== pod.spec.nodeName) requeue(podKey(pod))
        },
      }),
    ],
    async reconcile(key, context) {
      const { caches, requeue } = context
      if (key === tick) {
        isTicking = false
        return requeue(health)
      }
      if (key === health) return timed((seconds) => metrics.observeFullCheck(seconds), checkAllNodes(context))
      if (key === evictions) return evict(context)
      const [kind, namespace = '', name = ''] = key.split('/')
      if (kind === 'pod') {
        const pod = caches.get(pods, namespace, name)
        const node = pod && caches.get(nodes, '', pod.spec?.nodeName ?? '')
        const ready = node && readyCondition(node)
        if (pod && ready && ready.status !== 'True') await markNotReady(pod, context, now())
        return
      }
      const node = caches.get(nodes, '', namespace)
      if (node) await write(node, { taints: withConditionTaints(node, now()), labels: olderLabels(node) }, context)
    },
  }
}

/** Calls `observe` with the duration of `work`, in seconds. */
function timed<T>(observe: (seconds: number) => void, work: Promise<T>): Promise<T> {
  const began = performance.now()
  return work.finally(() => observe((performance.now() - began) / 1000))
}

/** Records an event about the controller's list of nodes. */
function recordNodeEvent(
  { name, uid }: { readonly name?: string; readonly uid?: string },
  reason: string,
  message: string,
  { events }: ReconcileContext,
): void {
  events.record({ apiVersion: 'v1', kind: 'Node', name, uid }, 'Normal', reason, `Node ${name} event: ${message}`)
}

interface Changes {
  /** All taints; undefined if unchanged. */
  readonly taints: readonly Taint[] | undefined
  /** Labels to set. */
  readonly labels?: Readonly<Record<string, string>>
}

/** Resolves with the updated node. Rejects with a conflict if the node has changed, so that the key is retried. */
async function write(node: Node, { taints, labels }: Changes, { client }: ReconcileContext): Promise<Node> {
  if (!taints && !labels) return node
  const { name = '', resourceVersion } = node.metadata
  const patch = { metadata: { resourceVersion, ...(labels && { labels }) }, ...(taints && { spec: { taints } }) }
  return (await client.patch(nodes, '', name, patch, 'merge').catch(ignoreNotFound)) ?? node
}
