/** Metrics of garbage-collected pods (`pod_gc_collector_*`). */
import { MetricsRegistry } from '../../../lib/metrics/registry.ts'

export type RemovalReason = 'terminated' | 'out-of-service' | 'orphaned' | 'unscheduled'

export class PodGarbageMetrics {
  readonly #removals
  readonly #failures

  constructor(registry = new MetricsRegistry()) {
    const labels = ['namespace', 'reason']
    this.#removals = registry.counter(
      'pod_gc_collector_force_delete_pods_total',
      'Number of pods that are being forcefully deleted since the Pod GC Controller started.',
      labels,
    )
    this.#failures = registry.counter(
      'pod_gc_collector_force_delete_pod_errors_total',
      'Number of errors encountered when forcefully deleting the pods since the Pod GC Controller started.',
      labels,
    )
  }

  countRemoval(namespace: string, reason: RemovalReason): void {
    this.#removals([namespace, reason]).add()
  }

  /** As upstream, failed attempts count as removals too. */
  countFailure(namespace: string, reason: RemovalReason): void {
    this.countRemoval(namespace, reason)
    this.#failures([namespace, reason]).add()
  }
}
