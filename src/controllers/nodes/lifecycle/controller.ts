/**
 * Watches over nodes: those that are not heard of are Unknown, get taints, and their pods are neither ready nor, in
 * time, theirs any more.
 */
import { type Controller, type ReconcileContext, reads, watch } from '../../../client/controller/controller.ts'
import { leases, type Node, nodes, type Pod, pods } from '../../../client/kinds.ts'
import { unlessGone } from '../../refusals.ts'
import { byNode } from '../pods-of-node.ts'
import { conditionsOfSilent, type GracePeriods, type NodeCondition, readyCondition } from './health.ts'
import { olderLabels } from './labels.ts'
import { NodeMetrics } from './metrics.ts'
import { NodeWatch } from './node-watch.ts'
import { markNotReady } from './pods.ts'
import { isEvicting, type Taint, withConditionTaints, withEviction, withoutEviction } from './taints.ts'
import { type EvictionRates, zoneOf } from './zones.ts'

export interface NodeLifecycleOptions {
  readonly grace: GracePeriods
  readonly rates: EvictionRates
  /** How often nodes are looked at, in ms (`--node-monitor-period`). */
  readonly periodMs: number
  /** Counts nothing that anybody sees unless said. */
  readonly metrics?: NodeMetrics
  readonly now?: () => number
}

const leaseNamespace = 'kube-node-lease'
/** Keys: a look at all nodes, the time for the next one, nodes that wait to be tainted, one node, one pod. */
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
  const nodeWatch = new NodeWatch(grace, rates)
  metrics.follow(() => nodeWatch.counts)
  let isTicking = false

  async function lookAtAll(context: ReconcileContext): Promise<void> {
    const { caches, requeue } = context
    const all = [...caches.all(nodes)]
    const { added, removed } = nodeWatch.classify(all)
    for (const node of added)
      tell(node.metadata, 'RegisteredNode', `Registered Node ${node.metadata.name} in Controller`, context)
    for (const gone of removed) tell(gone, 'RemovingNode', `Removing Node ${gone.name} from Controller`, context)
    // Without nodes nothing ticks.
    if (all.length > 0 && !isTicking) {
      isTicking = true
      requeue(tick, periodMs)
    }
    const seen = [...all]
    const writes: Promise<void>[] = []
    for (const [at, node] of all.entries()) {
      const began = performance.now()
      const told = (): void => metrics.lookedAtNode((performance.now() - began) / 1000)
      const writing = lookAt(node, context)
      if (!writing) told()
      else writes.push(writing.then((written) => void (seen[at] = written)).finally(told))
    }
    // One node that cannot be written does not keep the others from being looked at.
    const failed = (await Promise.allSettled(writes)).find((write) => write.status === 'rejected')
    if (nodeWatch.judge(seen, now()))
      await Promise.all(seen.map((node) => write(node, { taints: withoutEviction(node) }, context)))
    requeue(evictions)
    if (failed) throw failed.reason
  }

  /**
   * Resolves with the node as it was written; undefined if there was nothing to write, as with nearly all nodes at
   * nearly all times.
   */
  function lookAt(node: Node, context: ReconcileContext): Promise<Node> | undefined {
    const { name = '' } = node.metadata
    const ready = readyCondition(node)
    const conditions = nodeWatch.isSilent(node, context.caches.get(leases, leaseNamespace, name), now())
      ? conditionsOfSilent(node, now())
      : undefined
    if (ready?.status === 'True') nodeWatch.queueOf(node).remove(name)
    if (conditions) return tellSilent(node, conditions, context)
    const taints =
      ready?.status === 'True' ? withoutEviction(node) : isEvicting(node) ? withEviction(node, now()) : undefined
    if (taints) return write(node, { taints }, context)
    if (ready && ready.status !== 'True' && !isEvicting(node)) nodeWatch.queueOf(node).add(name)
    return undefined
  }

  /**
   * Writes what a node would write that is not heard of, and sees to its pods. Resolves with the node as it is
   * afterwards.
   */
  async function tellSilent(node: Node, conditions: NodeCondition[], context: ReconcileContext): Promise<Node> {
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

  /** Gives nodes the taint that drives pods away, as fast as their zones allow. */
  async function evict(context: ReconcileContext): Promise<void> {
    for (const queue of nodeWatch.queues()) {
      for (let name = queue.take(now()); name !== undefined; name = queue.take(now())) {
        const node = context.caches.get(nodes, '', name)
        const taints = node && withEviction(node, now())
        if (!taints) continue
        await write(node, { taints }, context)
        metrics.evicted(zoneOf(node))
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
      // Those of other namespaces are few, and the garbage collector follows all.
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
      if (key === health) return timed((seconds) => metrics.lookedAtAll(seconds), lookAtAll(context))
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

/** Tells how long some work takes, in seconds. */
function timed<T>(tell: (seconds: number) => void, work: Promise<T>): Promise<T> {
  const began = performance.now()
  return work.finally(() => tell((performance.now() - began) / 1000))
}

/** Events about what the controller knows of. */
function tell(
  { name, uid }: { readonly name?: string; readonly uid?: string },
  reason: string,
  what: string,
  { events }: ReconcileContext,
): void {
  events.record({ apiVersion: 'v1', kind: 'Node', name, uid }, 'Normal', reason, `Node ${name} event: ${what}`)
}

interface Changes {
  /** All taints; none where they stay. */
  readonly taints: readonly Taint[] | undefined
  /** Those to set. */
  readonly labels?: Readonly<Record<string, string>>
}

/**
 * Resolves with the node as it is afterwards. Rejects with a conflict if it is not as it was read: it is decided anew
 * then.
 */
async function write(node: Node, { taints, labels }: Changes, { client }: ReconcileContext): Promise<Node> {
  if (!taints && !labels) return node
  const { name = '', resourceVersion } = node.metadata
  const patch = { metadata: { resourceVersion, ...(labels && { labels }) }, ...(taints && { spec: { taints } }) }
  return (await client.patch(nodes, '', name, patch, 'merge').catch(unlessGone)) ?? node
}
