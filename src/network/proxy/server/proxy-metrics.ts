/** The metrics of kube-proxy, with upstream's names. */
import { exponentialBuckets } from '../../../lib/metrics/buckets.ts'
import type { CounterSeries, MetricsRegistry, SeriesOf } from '../../../lib/metrics/registry.ts'
import type { IpFamily } from '../picture/service-port.ts'

/** Changes of one kind of objects. */
interface Changes {
  total: number
  pending: number
}

/** Counts of one IP family. */
export interface FamilyMetrics {
  /** Notes a change of a Service or an EndpointSlice that the next sync brings into effect. */
  changed(kind: 'service' | 'endpoint'): void
  /** Notes that a sync takes all pending changes. */
  taken(): void
  /** Notes a sync that succeeded and took `seconds`. */
  synced(isFull: boolean, seconds: number): void
  failed(): void
  /** Observes the seconds from a change of endpoints until it is in effect. */
  programmed(seconds: number): void
  /** Notes removed UDP flows, and the time in seconds that the search took. */
  connectionsRemoved(count: number, seconds: number): void
}

export interface ProxyMetrics {
  family(family: IpFamily): FamilyMetrics
  /** Counts answers of `/healthz` and `/livez`. */
  answered(page: 'healthz' | 'livez', code: number): void
}

const range = (start: number, step: number, count: number): number[] =>
  Array.from({ length: count }, (_, at) => start + step * at)

const syncBuckets = exponentialBuckets(0.001, 2, 15)
const programmingBuckets = [0, ...range(0.25, 0.25, 2), ...range(1, 1, 59), ...range(60, 5, 12), ...range(120, 30, 7)]

/** Registers the metrics. `now` returns ms since 1970. */
export function proxyMetrics(registry: MetricsRegistry, now: () => number): ProxyMetrics {
  const families = new Map<IpFamily, FamilyMetrics & FamilyCounts>()
  const shared = sharedMetrics(registry)
  familyGauges(registry, families)
  const codes = {
    healthz: registry.counter('kubeproxy_proxy_healthz_total', 'Cumulative proxy healthz HTTP status', ['code']),
    livez: registry.counter('kubeproxy_proxy_livez_total', 'Cumulative proxy livez HTTP status', ['code']),
  }
  return {
    family(family) {
      const known = families.get(family) ?? familyMetrics(family, shared, now)
      families.set(family, known)
      return known
    },
    answered: (page, code) => codes[page]([String(code)]).add(),
  }
}

interface FamilyCounts {
  readonly changes: Readonly<Record<'service' | 'endpoint', Changes>>
  /** Seconds since 1970. */
  readonly times: { queued: number; synced: number }
}

type Shared = ReturnType<typeof sharedMetrics>

function sharedMetrics(registry: MetricsRegistry) {
  const labels = ['ip_family']
  const histogram = (name: string, help: string, buckets: readonly number[] = syncBuckets) =>
    registry.histogram(`kubeproxy_${name}`, help, buckets, labels)
  const failures: SeriesOf<CounterSeries> = registry.counter(
    'kubeproxy_sync_proxy_rules_failures_total',
    'Cumulative syncs that failed and are repeated',
    labels,
  )
  return {
    syncs: histogram('sync_proxy_rules_duration_seconds', 'SyncProxyRules latency in seconds'),
    full: histogram('sync_full_proxy_rules_duration_seconds', 'SyncProxyRules latency in seconds for full resyncs'),
    partial: histogram(
      'sync_partial_proxy_rules_duration_seconds',
      'SyncProxyRules latency in seconds for partial resyncs',
    ),
    programming: histogram(
      'network_programming_duration_seconds',
      'In Cluster Network Programming Latency in seconds',
      programmingBuckets,
    ),
    conntrack: histogram('conntrack_reconciler_sync_duration_seconds', 'ReconcileConntrackFlowsLatency in seconds'),
    deleted: registry.counter(
      'kubeproxy_conntrack_reconciler_deleted_entries_total',
      'Cumulative conntrack flows deleted by conntrack reconciler',
      labels,
    ),
    failures,
  }
}

function familyMetrics(family: IpFamily, shared: Shared, now: () => number): FamilyMetrics & FamilyCounts {
  const label = [`IPv${family}`]
  const changes = { service: { total: 0, pending: 0 }, endpoint: { total: 0, pending: 0 } }
  const times = { queued: 0, synced: 0 }
  return {
    changes,
    times,
    changed(kind) {
      changes[kind].total++
      changes[kind].pending++
      times.queued = now() / 1000
    },
    taken() {
      changes.service.pending = 0
      changes.endpoint.pending = 0
    },
    synced(isFull, seconds) {
      shared.syncs(label).observe(seconds)
      shared[isFull ? 'full' : 'partial'](label).observe(seconds)
      times.synced = now() / 1000
    },
    failed: () => shared.failures(label).add(),
    programmed: (seconds) => shared.programming(label).observe(seconds),
    connectionsRemoved(count, seconds) {
      shared.conntrack(label).observe(seconds)
      shared.deleted(label).add(count)
    },
  }
}

function familyGauges(registry: MetricsRegistry, families: ReadonlyMap<IpFamily, FamilyCounts>): void {
  const read = (value: (counts: FamilyCounts) => number) => () =>
    [...families].map(([family, counts]) => [[`IPv${family}`], value(counts)] as const)
  const rules = (name: string): string => `kubeproxy_sync_proxy_rules_${name}`
  const gauge = (name: string, help: string, value: (counts: FamilyCounts) => number): void =>
    registry.gauge(rules(name), help, ['ip_family'], read(value))
  gauge('last_timestamp_seconds', 'The last time proxy rules were successfully synced', ({ times }) => times.synced)
  gauge('last_queued_timestamp_seconds', 'The last time a sync of proxy rules was queued', ({ times }) => times.queued)
  for (const [kind, title] of [
    ['service', 'Service'],
    ['endpoint', 'Endpoint'],
  ] as const) {
    gauge(`${kind}_changes_pending`, `Pending proxy rules ${title} changes`, ({ changes }) => changes[kind].pending)
    registry.externalCounter(
      rules(`${kind}_changes_total`),
      `Cumulative proxy rules ${title} changes`,
      ['ip_family'],
      read(({ changes }) => changes[kind].total),
    )
  }
}
