/** What goes wrong with connections, and which aggregated APIs cannot be reached, by upstream's names. */
import type { MetricsRegistry } from '../../lib/metrics/registry.ts'
import type { Aggregator } from '../aggregator/index.ts'

/** What it gives is called for each TLS handshake that fails. */
export function handshakeMetrics(metrics: MetricsRegistry): () => void {
  const failures = metrics.counter(
    'apiserver_tls_handshake_errors_total',
    "Number of requests dropped with 'TLS handshake error from' error",
  )([])
  return () => failures.add()
}

export const availabilityMetrics = (metrics: MetricsRegistry, aggregator: Aggregator): void =>
  metrics.gauge(
    'aggregator_unavailable_apiservice',
    'Gauge of APIServices which are marked as unavailable broken down by APIService name.',
    ['name'],
    () => [...aggregator.availability()].map(([name, isAvailable]) => [[name], isAvailable ? 0 : 1] as const),
  )
