/** What is counted of pods that taints drive away: taints of nodes, and taints of devices. */
import { MetricsRegistry } from '../../lib/metrics/registry.ts'

/** From five milliseconds to four minutes. */
const buckets: readonly number[] = [0.005, 0.025, 0.1, 0.5, 1, 2.5, 10, 30, 60, 120, 180, 240]

export class EvictionMetrics {
  readonly #deletions
  readonly #seconds

  /** `controller` is whose pods they are, `taint` what they do not tolerate. */
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

  /** A pod was deleted so many ms after it was to go. */
  deleted(lateMs: number): void {
    this.#deletions.add()
    this.#seconds.observe(Math.max(0, lateMs) / 1000)
  }
}

export const nodeTaintMetrics = (registry = new MetricsRegistry()): EvictionMetrics =>
  new EvictionMetrics(registry, 'taint_eviction_controller', 'TaintEvictionController', 'taint')

export const deviceTaintMetrics = (registry = new MetricsRegistry()): EvictionMetrics =>
  new EvictionMetrics(registry, 'device_taint_eviction_controller', 'DeviceTaintEvictionController', 'device taint')
