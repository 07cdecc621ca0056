/** The times of the last graceful shutdown of the node. */
import type { MetricsRegistry } from '../../lib/metrics/registry.ts'

/** Registers the gauges; call the returned function at the start and at the end. 0 is never, as upstream. */
export function shutdownMetrics(registry: MetricsRegistry, now: () => number): (step: 'start' | 'end') => void {
  const times = { start: 0, end: 0 }
  for (const step of ['start', 'end'] as const)
    registry.gauge(
      `kubelet_graceful_shutdown_${step}_time_seconds`,
      // Upstream's help is the same for both.
      'Last graceful shutdown start time since unix epoch in seconds',
      [],
      () => [[[], times[step]]],
    )
  return (step) => {
    times[step] = now() / 1000
    if (step === 'start') times.end = 0
  }
}
