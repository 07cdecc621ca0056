/** Metrics of the root CA publisher (`root_ca_cert_publisher_*`). */
import { exponentialBuckets } from '../../lib/metrics/buckets.ts'
import { MetricsRegistry } from '../../lib/metrics/registry.ts'
import { StatusError } from '../../machinery/status-error.ts'

/** Returns a function that observes the sync of a namespace by response code and duration. */
export function publisherMetrics(registry = new MetricsRegistry()): (work: Promise<void>) => Promise<void> {
  const help = 'Number of namespace syncs happened in root ca cert publisher.'
  const syncs = registry.counter('root_ca_cert_publisher_sync_total', help, ['code'])
  const seconds = registry.histogram(
    'root_ca_cert_publisher_sync_duration_seconds',
    help,
    exponentialBuckets(0.001, 2, 15),
    ['code'],
  )
  return async (work) => {
    const startedAt = performance.now()
    let code = '500'
    try {
      await work
      code = '200'
    } catch (error) {
      if (error instanceof StatusError) code = `${error.code}`
      throw error
    } finally {
      syncs([code]).add()
      seconds([code]).observe((performance.now() - startedAt) / 1000)
    }
  }
}
