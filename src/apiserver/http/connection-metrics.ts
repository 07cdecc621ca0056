/** Metrics of connections, under upstream's names. */
import type { MetricsRegistry } from '../../lib/metrics/registry.ts'

/** Returns a function to be called for each TLS handshake that fails. */
export function handshakeMetrics(metrics: MetricsRegistry): () => void {
  const failures = metrics.counter(
    'apiserver_tls_handshake_errors_total',
    "Number of requests dropped with 'TLS handshake error from' error",
  )([])
  return () => failures.add()
}
