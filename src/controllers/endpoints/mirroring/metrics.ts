/** Metrics of the mirroring controller (`endpoint_slice_mirroring_controller_*`). */
import { exponentialBuckets } from '../../../lib/metrics/buckets.ts'
import { MetricsRegistry } from '../../../lib/metrics/registry.ts'
import { SliceMetrics } from '../slices/slice-metrics.ts'

const subsystem = 'endpoint_slice_mirroring_controller'

export class MirroringMetrics extends SliceMetrics {
  readonly #skipped
  readonly #seconds

  constructor(registry = new MetricsRegistry()) {
    super(registry, subsystem, 'Endpoints', true)
    this.#skipped = registry.histogram(
      `${subsystem}_addresses_skipped_per_sync`,
      'Number of addresses skipped on each Endpoints sync due to being invalid or exceeding MaxEndpointsPerSubset',
      exponentialBuckets(2, 2, 15),
    )
    this.#seconds = registry.histogram(
      `${subsystem}_endpoints_sync_duration`,
      'Duration of syncEndpoints() in seconds',
      exponentialBuckets(0.001, 2, 15),
    )
  }

  observeSkipped(addresses: number): void {
    this.#skipped([]).observe(addresses)
  }

  observeSync(seconds: number): void {
    this.#seconds([]).observe(seconds)
  }
}
