/** Metrics of the EndpointSlice controller in addition to those of slices (`endpoint_slice_controller_*`). */
import type { Service } from '../../../client/kinds.ts'
import { defaultBuckets } from '../../../lib/metrics/buckets.ts'
import { MetricsRegistry } from '../../../lib/metrics/registry.ts'
import { wantsTopologyHints } from './hints/topology.ts'
import { SliceMetrics } from './slice-metrics.ts'

const subsystem = 'endpoint_slice_controller'

export class ServiceSliceMetrics extends SliceMetrics {
  readonly #syncs
  readonly #changedPerSync
  /** trafficDistribution of Services by key. */
  readonly #distributions = new Map<string, string>()

  constructor(registry = new MetricsRegistry()) {
    super(registry, subsystem, 'Service')
    this.#syncs = registry.counter(`${subsystem}_syncs`, 'Number of EndpointSlice syncs', ['result'])
    this.#changedPerSync = registry.histogram(
      `${subsystem}_endpointslices_changed_per_sync`,
      'Number of EndpointSlices changed on each Service sync',
      defaultBuckets,
      ['topology', 'traffic_distribution'],
    )
    registry.gauge(
      `${subsystem}_services_count_by_traffic_distribution`,
      'Number of Services using some specific trafficDistribution',
      ['traffic_distribution'],
      () =>
        [...Map.groupBy(this.#distributions.values(), (distribution) => distribution)].map(([distribution, all]) => [
          [distribution],
          all.length,
        ]),
    )
  }

  /** Counts a reconcile; `stale` if the cache was behind and the key is requeued. */
  countSync(result: 'success' | 'stale' | 'error'): void {
    this.#syncs([result]).add()
  }

  /** Observes the number of written slices of a Service. */
  observeChanges(key: string, service: Service, changes: number): void {
    const distribution = service.spec?.trafficDistribution ?? ''
    this.#changedPerSync([wantsTopologyHints(service) ? 'Auto' : 'Disabled', distribution]).observe(changes)
    if (distribution) this.#distributions.set(key, distribution)
    else this.#distributions.delete(key)
  }

  override forget(key: string): void {
    super.forget(key)
    this.#distributions.delete(key)
  }
}
