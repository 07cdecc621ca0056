/** Reports which APIServices are unavailable, under upstream's name. */
import type { MetricsRegistry } from '../../lib/metrics/registry.ts'
import type { Aggregator } from './aggregator.ts'

export const availabilityMetrics = (metrics: MetricsRegistry, aggregator: Aggregator): void =>
  metrics.gauge(
    'aggregator_unavailable_apiservice',
    'Gauge of APIServices which are marked as unavailable broken down by APIService name.',
    ['name'],
    () => [...aggregator.availability()].map(([name, isAvailable]) => [[name], isAvailable ? 0 : 1] as const),
  )
