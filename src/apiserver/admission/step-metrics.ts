/** How long the two steps of admission take, by upstream's name. */
import type { HistogramSeries, MetricsRegistry } from '../../lib/metrics/registry.ts'
import type { StepMetrics } from './plugin.ts'

/** Seconds. */
const buckets = [0.005, 0.025, 0.1, 0.5, 1, 2.5]

export function stepMetrics(registry: MetricsRegistry): StepMetrics {
  const durations = registry.histogram(
    'apiserver_admission_step_admission_duration_seconds',
    'Time that a step of admission takes, by operation and whether the request was rejected.',
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
