/** Checks all nodes: writes the conditions of silent ones, and taints unready ones at the rate of their zones. */
import type { ReconcileContext } from '../../../client/controller/controller.ts'
import { leases, type Node, nodes } from '../../../client/kinds.ts'
import { type NodeCondition, readyCondition, silentConditions } from './health.ts'
import type { NodeMetrics } from './metrics.ts'
import type { NodeMonitor } from './node-monitor.ts'
import { isEvicting, withEviction, withoutEviction } from './taints.ts'
import { updateNode } from './update-node.ts'
import { zoneOf } from './zones.ts'

/** The work queue key of `evict`. */
export const evictionsKey = 'evictions'

const leaseNamespace = 'kube-node-lease'

export class NodeChecks {
  readonly #monitor: NodeMonitor
  readonly #metrics: NodeMetrics
  readonly #now: () => number

  /** `now` returns ms. */
  constructor(monitor: NodeMonitor, metrics: NodeMetrics, now: () => number) {
    this.#monitor = monitor
    this.#metrics = metrics
    this.#now = now
  }

  /** Rejects after the checks if a write has failed. */
  async checkAll(all: readonly Node[], context: ReconcileContext): Promise<void> {
    const startedAt = performance.now()
    try {
      this.#recordMembers(all, context)
      const { current, failure } = await this.#checkEach(all, context)
      if (this.#monitor.updateZones(current, this.#now()))
        await Promise.all(current.map((node) => updateNode(node, { taints: withoutEviction(node) }, context)))
      context.requeue(evictionsKey)
      if (failure) throw failure.reason
    } finally {
      this.#metrics.observeFullCheck((performance.now() - startedAt) / 1000)
    }
  }

  /** Adds the NoExecute taint to queued nodes, at the rate of their zones. */
  async evict(context: ReconcileContext): Promise<void> {
    for (const queue of this.#monitor.queues()) {
      for (let name = queue.take(this.#now()); name !== undefined; name = queue.take(this.#now())) {
        const node = context.caches.get(nodes, '', name)
        const taints = node && withEviction(node, this.#now())
        if (!taints) continue
        await updateNode(node, { taints }, context)
        this.#metrics.countEviction(zoneOf(node))
      }
      const nextMs = queue.nextInMs(this.#now())
      if (nextMs !== undefined) context.requeue(evictionsKey, nextMs)
    }
  }

  /** Records events about added and removed nodes. */
  #recordMembers(all: readonly Node[], { events }: ReconcileContext): void {
    const { added, removed } = this.#monitor.classify(all)
    const record = ({ name, uid }: NodeIdentity, reason: string, message: string): void =>
      events.record({ apiVersion: 'v1', kind: 'Node', name, uid }, 'Normal', reason, `Node ${name} event: ${message}`)
    for (const { metadata } of added)
      record(metadata, 'RegisteredNode', `Registered Node ${metadata.name} in Controller`)
    for (const node of removed) record(node, 'RemovingNode', `Removing Node ${node.name} from Controller`)
  }

  /** Resolves with the nodes after the checks. A failed write of one node does not stop the checks of the others. */
  async #checkEach(
    all: readonly Node[],
    context: ReconcileContext,
  ): Promise<{ readonly current: readonly Node[]; readonly failure: PromiseRejectedResult | undefined }> {
    const current = [...all]
    const writes: Promise<void>[] = []
    for (const [index, node] of all.entries()) {
      const startedAt = performance.now()
      const observe = (): void => this.#metrics.observeNodeCheck((performance.now() - startedAt) / 1000)
      const write = this.#check(node, context)
      if (!write) observe()
      else writes.push(write.then((written) => void (current[index] = written)).finally(observe))
    }
    const results = await Promise.allSettled(writes)
    return { current, failure: results.find((result) => result.status === 'rejected') }
  }

  /** Resolves with the updated node; returns undefined if nothing must be written, which is the usual case. */
  #check(node: Node, context: ReconcileContext): Promise<Node> | undefined {
    const { name = '' } = node.metadata
    const ready = readyCondition(node)
    const now = this.#now()
    const isSilent = this.#monitor.isSilent(node, context.caches.get(leases, leaseNamespace, name), now)
    const conditions = isSilent ? silentConditions(node, now) : undefined
    if (ready?.status === 'True') this.#monitor.queueOf(node).remove(name)
    if (conditions) return this.#writeSilent(node, conditions, context)
    const taints =
      ready?.status === 'True' ? withoutEviction(node) : isEvicting(node) ? withEviction(node, now) : undefined
    if (taints) return updateNode(node, { taints }, context)
    if (ready && ready.status !== 'True' && !isEvicting(node)) this.#monitor.queueOf(node).add(name)
    return undefined
  }

  /** Writes the conditions of a silent node, and taints or queues it for eviction. Resolves with the updated node. */
  async #writeSilent(node: Node, conditions: NodeCondition[], context: ReconcileContext): Promise<Node> {
    const { name = '', uid } = node.metadata
    const current = await context.client.updateStatus(nodes, { ...node, status: { ...node.status, conditions } })
    if (readyCondition(node)?.status === 'True') {
      const message = `Node ${name} status is now: NodeNotReady`
      context.events.record({ apiVersion: 'v1', kind: 'Node', name, uid }, 'Normal', 'NodeNotReady', message)
    } else if (isEvicting(current)) return updateNode(current, { taints: withEviction(current, this.#now()) }, context)
    else if (readyCondition(current)) this.#monitor.queueOf(node).add(name)
    return current
  }
}

interface NodeIdentity {
  readonly name?: string
  readonly uid?: string
}
