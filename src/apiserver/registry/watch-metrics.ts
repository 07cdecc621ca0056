/** Metrics of watches, with upstream's names. All values are read when the metrics are scraped. */
import type { MetricsRegistry } from '../../lib/metrics/registry.ts'
import type { ServedResource } from './served-resource.ts'
import { eventSizes, watchListSeconds } from './watch-traffic.ts'

/** `served` returns all resources that are served now, in all versions. */
export function watchMetrics(metrics: MetricsRegistry, served: () => Iterable<ServedResource>): void {
  const labels = ['group', 'version', 'resource']
  const watched = (): readonly (readonly [string[], ServedResource['watchTraffic']])[] =>
    [...served()].map(
      ({ definition: { group, version, plural }, watchTraffic }) => [[group, version, plural], watchTraffic] as const,
    )
  const sent = () => watched().filter(([, { events }]) => events > 0)
  metrics.externalCounter('apiserver_watch_events_total', 'Events sent to watches.', labels, () =>
    sent().map(([place, { events }]) => [place, events] as const),
  )
  metrics.externalHistogram(
    'apiserver_watch_events_sizes',
    'Bytes of events sent to watches.',
    eventSizes,
    labels,
    () => sent().map(([place, { sizes }]) => [place, sizes] as const),
  )
  metrics.externalHistogram(
    'apiserver_watch_list_duration_seconds',
    'Time until watches that begin with the state had sent it.',
    watchListSeconds,
    [...labels, 'scope'],
    () =>
      watched().flatMap(([place, { listed }]) =>
        [...listed].map(([scope, times]) => [[...place, scope], times] as const),
      ),
  )
}
