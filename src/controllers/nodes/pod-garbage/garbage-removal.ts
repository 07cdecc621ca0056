/** Removes garbage pods; remembers missing nodes, whose pods are removed after a quarantine. */
import type { ReconcileContext } from '../../../client/controller/controller.ts'
import { keyOf } from '../../../client/informers/informer.ts'
import { nodes, type Pod, pods } from '../../../client/kinds.ts'
import { ignoreNotFound, isNotFound } from '../../api-errors.ts'
import { withDisruption } from '../../pods/disruption.ts'
import { hasEnded } from '../../pods/phase.ts'
import { byNode } from '../pods-of-node.ts'
import { ended, isOnLostNode, isUnscheduledAndDeleted, surplusEndedPods } from './garbage-pods.ts'
import type { PodGarbageMetrics, RemovalReason } from './metrics.ts'

export interface GarbageRemovalOptions {
  /** Time between the deletion of a node and that of its pods, in ms. */
  readonly quarantineMs: number
  /** Grace period of deleted unscheduled pods, in ms. */
  readonly graceMs: number
  readonly metrics: PodGarbageMetrics
  /** Returns ms. */
  readonly now: () => number
}

export class GarbageRemoval {
  readonly #options: GarbageRemovalOptions
  /** Times since which nodes are missing, by name. */
  readonly #missingSince = new Map<string, number>()

  constructor(options: GarbageRemovalOptions) {
    this.#options = options
  }

  /** Must be called when a node was created or has changed. */
  nodeExists(name: string): void {
    this.#missingSince.delete(name)
  }

  /** Removes the ended pods beyond the limit. */
  async removeSurplus(maxEnded: number, context: ReconcileContext): Promise<void> {
    for (const pod of surplusEndedPods([...context.caches.by(pods, ended, 'ended')], maxEnded))
      await this.#remove(pod, 'terminated', context)
  }

  /** Removes a pod that is garbage; requeues one that will be. */
  async removeIfGarbage(pod: Pod, context: ReconcileContext): Promise<void> {
    if (isUnscheduledAndDeleted(pod)) return this.#removeUnscheduled(pod, context)
    const { nodeName } = pod.spec ?? {}
    if (!nodeName) return
    const node = context.caches.get(nodes, '', nodeName)
    if (isOnLostNode(pod, node)) return this.#remove(pod, 'out-of-service', context)
    if (!node) await this.#removeOrphaned(pod, nodeName, context)
  }

  /** Gives clients that wait for its end, or hold a finalizer, time to read the pod. */
  async #removeUnscheduled(pod: Pod, context: ReconcileContext): Promise<void> {
    const { graceMs, now } = this.#options
    const waitMs = Date.parse(pod.metadata.deletionTimestamp ?? '') + graceMs - now()
    if (waitMs > 0) return context.requeue(keyOf(pod), waitMs)
    await this.#remove(pod, 'unscheduled', context)
  }

  /** Removes a pod of a missing node. */
  async #removeOrphaned(pod: Pod, node: string, context: ReconcileContext): Promise<void> {
    const { quarantineMs, now } = this.#options
    const { client, caches, requeue } = context
    const missingSince = this.#missingSince.get(node) ?? now()
    this.#missingSince.set(node, missingSince)
    const remainingMs = missingSince + quarantineMs - now()
    if (remainingMs > 0) return requeue(keyOf(pod), remainingMs)
    // A node missing in the cache may be new.
    if (await client.get(nodes, '', node).catch(ignoreNotFound)) return
    const status = withDisruption(pod, 'DeletionByPodGC', 'PodGC: node no longer exists', now())
    await this.#remove(pod, 'orphaned', context, status)
    if ([...caches.by(pods, byNode, node)].length <= 1) this.#missingSince.delete(node)
  }

  /** Sets a pod without a known end to Failed and deletes it without a grace period. */
  async #remove(pod: Pod, reason: RemovalReason, context: ReconcileContext, status: object = {}): Promise<void> {
    const { metrics } = this.#options
    const { namespace = '', name = '', uid } = pod.metadata
    try {
      if (!hasEnded(pod)) await setFailed(pod, status, context)
      await context.client.delete(pods, namespace, name, { uid, gracePeriodSeconds: 0 })
      metrics.countRemoval(namespace, reason)
    } catch (error) {
      if (isNotFound(error)) return
      metrics.countFailure(namespace, reason)
      throw error
    }
  }
}

async function setFailed(pod: Pod, status: object, { client }: ReconcileContext): Promise<void> {
  const { namespace = '', name = '', uid } = pod.metadata
  const patch = { metadata: { uid }, status: { phase: 'Failed', ...status } }
  await client.patch(pods, namespace, name, patch, 'strategic', 'status').catch(ignoreNotFound)
}
