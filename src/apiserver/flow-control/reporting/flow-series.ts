/** The counters and histograms of flows: requests of one schema at one level. */
import type { MetricsRegistry } from '../../../lib/metrics/registry.ts'
import type { TallySeries } from './flow-tally.ts'

const seconds = [0, 0.005, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 15, 30]
const queueLengths = [0, 10, 25, 50, 100, 250, 500, 1000]
const seats = [1, 2, 4, 10]
const watchCounts = [0, 1, 10, 100, 1000, 10_000]
const labels = ['priority_level', 'flow_schema']
const prefix = 'apiserver_flowcontrol_'

/** Registers the metrics. Returns a function for the series of a level and a schema. */
export function flowSeries(metrics: MetricsRegistry): (level: string, schema: string) => TallySeries {
  const counter = (name: string, help: string, more: readonly string[] = []) =>
    metrics.counter(prefix + name, help, [...labels, ...more])
  const histogram = (name: string, help: string, buckets: readonly number[], more: readonly string[] = []) =>
    metrics.histogram(prefix + name, help, buckets, [...labels, ...more])

  const dispatched = counter('dispatched_requests_total', 'Requests that executed.')
  const rejected = counter('rejected_requests_total', 'Requests that were rejected.', ['reason'])
  const unaccommodated = counter(
    'request_dispatch_no_accommodation_total',
    'Requests whose turn it was when too few seats were free for them.',
  )
  const waited = histogram('request_wait_duration_seconds', 'How long requests waited in their queue.', seconds, [
    'execute',
  ])
  const took = histogram(
    'request_execution_seconds',
    'How long requests executed; watches until they had begun.',
    seconds,
    ['type'],
  )
  const lengths = histogram(
    'request_queue_length_after_enqueue',
    'The length of its queue with each request that came.',
    queueLengths,
  )
  const estimates = histogram('work_estimated_seats', 'Seats that requests were estimated to need.', seats)
  const watches = histogram('watch_count_samples', 'Watches that may see what a write changes.', watchCounts)

  return (level, schema) => {
    const flow = [level, schema]
    return {
      dispatched: () => dispatched(flow),
      rejected: (reason) => rejected([...flow, reason]),
      waited: (executed) => waited([...flow, String(executed)]),
      took: (kind) => took([...flow, kind]),
      unaccommodated: () => unaccommodated(flow),
      queueLength: () => lengths(flow),
      seats: () => estimates(flow),
      watches: () => watches(flow),
    }
  }
}
