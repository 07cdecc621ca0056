/**
 * Metrics of the resource caches and the store, with upstream's names. All values are read when the metrics are
 * scraped.
 */
import type { Distribution, MetricsRegistry } from '../../lib/metrics/registry.ts'
import { type CacheCounts, storeSeconds, waitSeconds } from './cache/cache-counts.ts'
import type { CacheView } from './cache/cache-view.ts'
import type { Cacher } from './cache/cacher.ts'
import { historyLength } from './cache/history/change-history.ts'
import type { ObjectCounts } from './object-counts.ts'
import type { Registry } from './registry.ts'

type Labelled<Value> = readonly [readonly string[], Value]

interface MetricOf<Source> {
  readonly name: string
  readonly help: string
  readonly read: (source: Source) => number
}

/** Upstream reports the last 15 digits. */
const shownRevisions = 1e15

/** For resources whose objects are in memory: all that were requested at least once. */
const viewGauges: readonly MetricOf<CacheView>[] = [
  {
    name: 'apiserver_watch_cache_resource_version',
    help: 'The resource version that the cache shows.',
    read: ({ revision }) => revision % shownRevisions,
  },
  { name: 'watch_cache_capacity', help: 'Changes that the cache keeps.', read: () => historyLength },
]

const counters: readonly MetricOf<CacheCounts>[] = [
  {
    name: 'apiserver_watch_cache_initializations_total',
    help: 'Loads of the cache.',
    read: ({ initializations }) => initializations,
  },
  {
    name: 'apiserver_init_events_total',
    help: 'Objects that loads of the cache have brought.',
    read: ({ initEvents }) => initEvents,
  },
  {
    name: 'apiserver_watch_cache_events_received_total',
    help: 'Events that the cache has received.',
    read: ({ eventsReceived }) => eventsReceived,
  },
  {
    name: 'apiserver_watch_cache_events_dispatched_total',
    help: 'Events that the cache has passed on.',
    read: ({ eventsDispatched }) => eventsDispatched,
  },
  {
    name: 'apiserver_storage_events_received_total',
    help: 'Events received from the store.',
    read: ({ eventsReceived }) => eventsReceived,
  },
  {
    name: 'apiserver_cache_list_returned_objects_total',
    help: 'Objects returned by LIST requests from memory.',
    read: ({ cacheLists }) => cacheLists.returned,
  },
  {
    name: 'apiserver_storage_list_total',
    help: 'LIST requests served from the store.',
    read: ({ storeLists }) => storeLists.total,
  },
  {
    name: 'apiserver_storage_list_fetched_objects_total',
    help: 'Objects read from the store for LIST requests.',
    read: ({ storeLists }) => storeLists.fetched,
  },
  {
    name: 'apiserver_storage_list_evaluated_objects_total',
    help: 'Objects tested for LIST requests from the store.',
    read: ({ storeLists }) => storeLists.evaluated,
  },
  {
    name: 'apiserver_storage_list_returned_objects_total',
    help: 'Objects returned by LIST requests from the store.',
    read: ({ storeLists }) => storeLists.returned,
  },
]

/** Their `index` label is always empty: there are no indexes, a list scans all objects of the namespace or cluster. */
const countersByIndex: readonly MetricOf<CacheCounts>[] = [
  {
    name: 'apiserver_cache_list_total',
    help: 'LIST requests served from memory.',
    read: ({ cacheLists }) => cacheLists.total,
  },
  {
    name: 'apiserver_cache_list_fetched_objects_total',
    help: 'Objects read from memory for LIST requests.',
    read: ({ cacheLists }) => cacheLists.fetched,
  },
]

const resourceLabels = ['group', 'resource']
const labelsOf = ({ resource: { definition } }: Cacher): string[] => [definition.group, definition.plural]
/** As Go prints a resource with its group. */
const dottedName = ([group, resource]: readonly string[]): string => (group ? `${resource}.${group}` : (resource ?? ''))

export function cacheMetrics(metrics: MetricsRegistry, registry: Registry, counts: ObjectCounts): void {
  objectMetrics(metrics, counts)
  viewMetrics(metrics, registry)
  for (const { name, help, read } of counters)
    metrics.externalCounter(name, help, resourceLabels, () =>
      [...registry.cachers()].map((cacher) => [labelsOf(cacher), read(cacher.counts)] as const),
    )
  for (const { name, help, read } of countersByIndex)
    metrics.externalCounter(name, help, [...resourceLabels, 'index'], () =>
      [...registry.cachers()].map((cacher) => [[...labelsOf(cacher), ''], read(cacher.counts)] as const),
    )
  freshReadMetrics(metrics, registry)
  storeMetrics(metrics, registry)
}

/** All of them are absent without periodic counts, as upstream. */
function objectMetrics(metrics: MetricsRegistry, counts: ObjectCounts): void {
  const inCaseOfError = 'In case of a fetching error, the value will be -1.'
  metrics.gauge(
    'apiserver_resource_objects',
    `Number of stored objects by resource. ${inCaseOfError}`,
    resourceLabels,
    () => counts.read().map(({ group, resource, objects }) => [[group, resource], objects] as const),
  )
  metrics.gauge(
    'apiserver_resource_size_estimate_bytes',
    `Bytes of the stored objects by resource; -1 if they are not in memory. ${inCaseOfError}`,
    resourceLabels,
    () => counts.read().map(({ group, resource, bytes }) => [[group, resource], bytes] as const),
  )
  metrics.gauge('apiserver_storage_objects', `Number of stored objects by kind. ${inCaseOfError}`, ['resource'], () =>
    counts.read().map(({ group, resource, objects }) => [[dottedName([group, resource])], objects] as const),
  )
}

function viewMetrics(metrics: MetricsRegistry, registry: Registry): void {
  const ofViews = (read: (cacher: Cacher, view: CacheView) => Labelled<number>) => (): Labelled<number>[] =>
    [...registry.cachers()].flatMap((cacher) => (cacher.live ? [read(cacher, cacher.live)] : []))
  for (const { name, help, read } of viewGauges)
    metrics.gauge(
      name,
      help,
      resourceLabels,
      ofViews((cacher, view) => [labelsOf(cacher), read(view)]),
    )
}

/** Reads of the newest state from memory. */
function freshReadMetrics(metrics: MetricsRegistry, registry: Registry): void {
  metrics.externalCounter(
    'apiserver_watch_cache_consistent_read_total',
    'Consistent reads from memory.',
    [...resourceLabels, 'success', 'fallback'],
    () =>
      [...registry.cachers()].map(
        (cacher) => [[...labelsOf(cacher), 'true', 'false'], cacher.counts.consistentReads] as const,
      ),
  )
  metrics.externalHistogram(
    'apiserver_watch_cache_read_wait_seconds',
    'Time that reads have waited for a fresh cache.',
    waitSeconds,
    resourceLabels,
    () =>
      [...registry.cachers()].flatMap((cacher) =>
        cacher.counts.waits.count > 0 ? [[labelsOf(cacher), cacher.counts.waits] as const] : [],
      ),
  )
}

/** Upstream's store is etcd, hence the metric names. */
function storeMetrics(metrics: MetricsRegistry, registry: Registry): void {
  const requestLabels = ['operation', ...resourceLabels]
  const requests = (): Labelled<Distribution>[] =>
    [...registry.cachers()].flatMap((cacher) =>
      [...cacher.counts.store].map(([operation, times]) => [[operation, ...labelsOf(cacher)], times] as const),
    )
  metrics.externalCounter(
    'etcd_requests_total',
    'Requests to the store, by operation and resource.',
    requestLabels,
    () => requests().map(([labels, { count }]) => [labels, count] as const),
  )
  metrics.externalCounter(
    'etcd_request_errors_total',
    'Requests to the store that failed, by operation and resource.',
    requestLabels,
    () =>
      [...registry.cachers()].flatMap((cacher) =>
        Array.from(
          cacher.counts.storeFailures,
          ([operation, count]) => [[operation, ...labelsOf(cacher)], count] as const,
        ),
      ),
  )
  metrics.externalHistogram(
    'etcd_request_duration_seconds',
    'Time of requests to the store, by operation and resource.',
    storeSeconds,
    requestLabels,
    requests,
  )
  metrics.gauge('apiserver_storage_size_bytes', 'Bytes of the files of the store.', ['storage_cluster_id'], () => {
    const { sizeBytes } = registry.store
    return sizeBytes === undefined ? [] : [[[''], sizeBytes]]
  })
}
