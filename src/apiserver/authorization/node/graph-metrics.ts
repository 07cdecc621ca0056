/** The duration of changes of the node graph, by upstream's name. */
import { exponentialBuckets } from '../../../lib/metrics/buckets.ts'
import type { MetricsRegistry } from '../../../lib/metrics/registry.ts'

/** Runs `change` and observes its duration under an operation such as `AddPod`. */
export type TimedChange = (operation: string, change: () => void) => void

export function graphMetrics(metrics: MetricsRegistry): TimedChange {
  const help = 'Histogram of duration of graph actions in node authorizer.'
  const durations = metrics.histogram(
    'node_authorizer_graph_actions_duration_seconds',
    help,
    exponentialBuckets(0.0001, 2, 12),
    ['operation'],
  )
  return (operation, change) => {
    const started = performance.now()
    change()
    durations([operation]).observe((performance.now() - started) / 1000)
  }
}
