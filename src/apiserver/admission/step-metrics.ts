/** The duration of the two admission steps, by upstream's metric name. */
import type { HistogramSeries, MetricsRegistry } from '../../lib/metrics/registry.ts'
import type { StepMetrics } from './plugin.ts'

/** In seconds. */
const buckets = [0.005, 0.025, 0.1, 0.5, 1, 2.5]

export function stepMetrics(registry: MetricsRegistry): StepMetrics {
  const durations = registry.histogram(
    'apiserver_admission_step_admission_duration_seconds',
    'Duration of an admission step in seconds, by operation and by whether the request was rejected.',
    buckets,
    ['type', 'operation', 'rejected'],
  )
  const known = new Map<string, HistogramSeries>()
  return (type, operation, rejected, seconds) => {
    const key = rejected ? `${type} ${operation} rejected` : `${type} ${operation}`
    let series = known.get(key)
    if (!series) known.set(key, (series = durations([type, operation, `${rejected}`])))
    series.observe(seconds)
  }
}
