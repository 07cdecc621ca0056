/** The duration of single filters of the chain, under upstream's name, for those that are measured anyway. */
import type { HistogramSeries, MetricsRegistry } from '../../../lib/metrics/registry.ts'

/** Seconds. */
const buckets = [0.0001, 0.0003, 0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 1, 5, 10, 15, 30]

export interface FilterDurations {
  readonly authentication: HistogramSeries
  readonly authorization: HistogramSeries
}

export function filterDurations(metrics: MetricsRegistry): FilterDurations {
  const help = 'Request filter latency distribution in seconds, for each filter type'
  const durations = metrics.histogram('apiserver_request_filter_duration_seconds', help, buckets, ['filter'])
  return { authentication: durations(['authentication']), authorization: durations(['authorization']) }
}
