/**
 * Metrics of the resource caches, their watches and the store, under upstream's names. All values are read when the
 * metrics are scraped.
 */
import type { Distribution, MetricsRegistry } from '../../lib/metrics/registry.ts'
import { type CacheCounts, storeSeconds, waitSeconds } from './cache/cache-counts.ts'
import type { Cacher } from './cache/cacher.ts'
import { historyLength } from './cache/history/change-history.ts'
import type { Registry } from './registry.ts'
import type { ServedResource } from './served-resource.ts'
import { eventSizes, watchListSeconds } from './watch-traffic.ts'

type Labelled<Value> = readonly [readonly string[], Value]

const ofResource = ['group', 'resource']
const placeOf = ({ resource: { definition } }: Cacher): string[] => [definition.group, definition.plural]
/** As Go prints a resource with its group. */
const dottedName = ([group, resource]: readonly string[]): string => (group ? `${resource}.${group}` : (resource ?? ''))

/** Upstream reports the last 15 digits. */
const shownRevisions = 1e15

export function cacheMetrics(metrics: MetricsRegistry, registry: Registry): void {
  const counter = (name: string, help: string, count: (counts: CacheCounts) => number): void =>
    metrics.externalCounter(name, help, ofResource, () =>
      [...registry.cachers()].map((cacher) => [placeOf(cacher), count(cacher.counts)] as const),
    )
  /** For resources whose objects are in memory: all that were requested at least once. */
  const live = (
    name: string,
    help: string,
    labels: readonly string[],
    read: (cacher: Cacher, view: NonNullable<Cacher['live']>) => Labelled<number>,
  ): void =>
    metrics.gauge(name, help, labels, () =>
      [...registry.cachers()].flatMap((cacher) => (cacher.live ? [read(cacher, cacher.live)] : [])),
    )

  live(
    'apiserver_resource_objects',
    'Number of stored objects, split by resource.',
    ofResource,
    (cacher, { objects }) => [placeOf(cacher), objects.size],
  )
  live('apiserver_storage_objects', 'Number of stored objects, split by kind.', ['resource'], (cacher, { objects }) => [
    [dottedName(placeOf(cacher))],
    objects.size,
  ])
  live('apiserver_resource_size_estimate_bytes', 'Bytes of the stored objects.', ofResource, (cacher, { objects }) => [
    placeOf(cacher),
    objects.bytes,
  ])
  live(
    'apiserver_watch_cache_resource_version',
    'The resource version that the cache shows.',
    ofResource,
    (cacher, { revision }) => [placeOf(cacher), revision % shownRevisions],
  )
  live('watch_cache_capacity', 'Changes that the cache keeps.', ofResource, (cacher) => [
    placeOf(cacher),
    historyLength,
  ])
  counter(
    'apiserver_watch_cache_initializations_total',
    'Loads of the cache.',
    ({ initializations }) => initializations,
  )
  counter(
    'apiserver_init_events_total',
    'Objects that loads of the cache have brought.',
    ({ initEvents }) => initEvents,
  )
  counter(
    'apiserver_watch_cache_events_received_total',
    'Events that the cache has received.',
    ({ eventsReceived }) => eventsReceived,
  )
  counter(
    'apiserver_watch_cache_events_dispatched_total',
    'Events that the cache has passed on.',
    ({ eventsDispatched }) => eventsDispatched,
  )
  counter(
    'apiserver_storage_events_received_total',
    'Events received from the store.',
    ({ eventsReceived }) => eventsReceived,
  )
  listMetrics(metrics, registry, counter)
  storeMetrics(metrics, registry)
}

/**
 * LIST metrics. The `index` label is always empty: there are no indexes, a list scans all objects of the namespace or
 * cluster.
 */
function listMetrics(
  metrics: MetricsRegistry,
  registry: Registry,
  counter: (name: string, help: string, count: (counts: CacheCounts) => number) => void,
): void {
  const ofIndex = (name: string, help: string, count: (counts: CacheCounts) => number): void =>
    metrics.externalCounter(name, help, [...ofResource, 'index'], () =>
      [...registry.cachers()].map((cacher) => [[...placeOf(cacher), ''], count(cacher.counts)] as const),
    )
  ofIndex('apiserver_cache_list_total', 'LIST requests served from memory.', ({ cacheLists }) => cacheLists.total)
  ofIndex(
    'apiserver_cache_list_fetched_objects_total',
    'Objects read from memory for LIST requests.',
    ({ cacheLists }) => cacheLists.fetched,
  )
  counter(
    'apiserver_cache_list_returned_objects_total',
    'Objects returned by LIST requests from memory.',
    ({ cacheLists }) => cacheLists.returned,
  )
  counter('apiserver_storage_list_total', 'LIST requests served from the store.', ({ storeLists }) => storeLists.total)
  counter(
    'apiserver_storage_list_fetched_objects_total',
    'Objects read from the store for LIST requests.',
    ({ storeLists }) => storeLists.fetched,
  )
  counter(
    'apiserver_storage_list_evaluated_objects_total',
    'Objects tested for LIST requests from the store.',
    ({ storeLists }) => storeLists.evaluated,
  )
  counter(
    'apiserver_storage_list_returned_objects_total',
    'Objects returned by LIST requests from the store.',
    ({ storeLists }) => storeLists.returned,
  )
  metrics.externalCounter(
    'apiserver_watch_cache_consistent_read_total',
    'Consistent reads from memory.',
    [...ofResource, 'success', 'fallback'],
    () =>
      [...registry.cachers()].map(
        (cacher) => [[...placeOf(cacher), 'true', 'false'], cacher.counts.consistentReads] as const,
      ),
  )
  metrics.externalHistogram(
    'apiserver_watch_cache_read_wait_seconds',
    'Time that reads have waited for a fresh cache.',
    waitSeconds,
    ofResource,
    () =>
      [...registry.cachers()].flatMap((cacher) =>
        cacher.counts.waits.count > 0 ? [[placeOf(cacher), cacher.counts.waits] as const] : [],
      ),
  )
}

/** Upstream's store is etcd, hence the metric names. */
function storeMetrics(metrics: MetricsRegistry, registry: Registry): void {
  const ofRequest = ['operation', ...ofResource]
  const requests = (): Labelled<Distribution>[] =>
    [...registry.cachers()].flatMap((cacher) =>
      [...cacher.counts.store].map(([operation, times]) => [[operation, ...placeOf(cacher)], times] as const),
    )
  metrics.externalCounter('etcd_requests_total', 'Requests to the store, by operation and resource.', ofRequest, () =>
    requests().map(([labels, { count }]) => [labels, count] as const),
  )
  metrics.externalHistogram(
    'etcd_request_duration_seconds',
    'Time of requests to the store, by operation and resource.',
    storeSeconds,
    ofRequest,
    requests,
  )
  metrics.gauge('apiserver_storage_size_bytes', 'Bytes of the files of the store.', ['storage_cluster_id'], () => {
    const { sizeBytes } = registry.store
    return sizeBytes === undefined ? [] : [[[''], sizeBytes]]
  })
}

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
