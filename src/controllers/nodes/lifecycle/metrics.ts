/** Metrics of nodes and zones (`node_collector_*`). */
import { exponentialBuckets } from '../../../lib/metrics/buckets.ts'
import { MetricsRegistry } from '../../../lib/metrics/registry.ts'
import type { ZoneCount } from './node-monitor.ts'

export class NodeMetrics {
  readonly #evictions
  readonly #node
  readonly #all

  constructor(registry = new MetricsRegistry()) {
    this.#evictions = registry.counter(
      'node_collector_evictions_total',
      'Number of Node evictions that happened since current instance of NodeController started.',
      ['zone'],
    )
    const seconds = (name: string, subject: string, shortest: number) =>
      registry.histogram(
        `node_collector_update_${name}_duration_seconds`,
        `Duration in seconds for NodeController to update the health of ${subject}.`,
        exponentialBuckets(shortest, 4, 8),
      )([])
    this.#node = seconds('node_health', 'a single node', 0.001)
    this.#all = seconds('all_nodes_health', 'all nodes', 0.01)
    const gauge = (name: string, help: string, value: (zone: ZoneCount) => number): void =>
      registry.gauge(`node_collector_${name}`, help, ['zone'], () =>
        [...this.#zones()].map((zone) => [[zone.name], value(zone)]),
      )
    gauge(
      'zone_health',
      'Gauge measuring percentage of healthy nodes per zone.',
      ({ ready, notReady }) => (100 * ready) / (ready + notReady),
    )
    gauge(
      'zone_size',
      'Gauge measuring number of registered Nodes per zones.',
      ({ ready, notReady }) => ready + notReady,
    )
    gauge('unhealthy_nodes_in_zone', 'Gauge measuring number of not Ready Nodes per zones.', ({ notReady }) => notReady)
  }

  #zones: () => Iterable<ZoneCount> = () => []

  /** Sets the source of the zone gauges. */
  setZoneSource(zones: () => Iterable<ZoneCount>): void {
    this.#zones = zones
  }

  /** Counts a node that got the NoExecute taint. */
  countEviction(zone: string): void {
    this.#evictions([zone]).add()
  }

  observeNodeCheck(seconds: number): void {
    this.#node.observe(seconds)
  }

  observeFullCheck(seconds: number): void {
    this.#all.observe(seconds)
  }
}
