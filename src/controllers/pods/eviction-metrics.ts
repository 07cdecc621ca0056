/** Metrics of pods that are evicted due to taints of nodes or devices. */
import { MetricsRegistry } from '../../lib/metrics/registry.ts'

/** From 5 ms to 4 minutes, in seconds. */
const buckets: readonly number[] = [0.005, 0.025, 0.1, 0.5, 1, 2.5, 10, 30, 60, 120, 180, 240]

export class EvictionMetrics {
  readonly #deletions
  readonly #seconds

  /** `controller` and `taint` are the names used in the help texts. */
  constructor(registry: MetricsRegistry, subsystem: string, controller: string, taint: string) {
    this.#deletions = registry.counter(
      `${subsystem}_pod_deletions_total`,
      `Total number of Pods deleted by ${controller} since its start.`,
    )([])
    this.#seconds = registry.histogram(
      `${subsystem}_pod_deletion_duration_seconds`,
      `Latency, in seconds, between the time when a ${taint} effect has been activated for the Pod and its ` +
        `deletion via ${controller}.`,
      buckets,
    )([])
  }

  /** Counts a pod that was deleted `lateMs` after its taint took effect. */
  observeEviction(lateMs: number): void {
    this.#deletions.add()
    this.#seconds.observe(Math.max(0, lateMs) / 1000)
  }
}

export const nodeTaintMetrics = (registry = new MetricsRegistry()): EvictionMetrics =>
  new EvictionMetrics(registry, 'taint_eviction_controller', 'TaintEvictionController', 'taint')

export const deviceTaintMetrics = (registry = new MetricsRegistry()): EvictionMetrics =>
  new EvictionMetrics(registry, 'device_taint_eviction_controller', 'DeviceTaintEvictionController', 'device taint')
