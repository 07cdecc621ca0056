/** Metrics of requests to the kubelet, with a bucket for each group of paths: names and labels are upstream's. */
import type { EventEmitter } from 'node:events'
import type { IncomingMessage } from 'node:http'
import type { Verbosity } from '../../lib/log/verbosity.ts'
import type { MetricsRegistry } from '../../lib/metrics/registry.ts'

export type ServerType = 'readwrite' | 'readonly'

/** Longer paths come first. */
const buckets: readonly string[] = [
  'attach',
  'checkpoint',
  'configz',
  'containerLogs',
  'debug',
  'exec',
  'healthz/syncloop',
  'healthz/ping',
  'healthz/log',
  'healthz',
  'logs',
  'metrics/cadvisor',
  'metrics/probes',
  'metrics/resource',
  'metrics',
  'pods',
  'portForward',
  'run',
  'runningpods',
  'stats',
  'cri',
]

const longRunning = new Set(['exec', 'attach', 'portForward', 'debug'])
const durationBuckets = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10]
const methods = new Set(['GET', 'POST', 'PUT', 'HEAD', 'DELETE', 'PATCH', 'OPTIONS'])
const labels = ['long_running', 'method', 'path', 'server_type'] as const

/** The bucket of a path: unknown ones share `other`, so that clients cannot create series. */
export function metricsPath(path: string): string {
  const relative = path.replace(/^\//, '')
  return buckets.find((bucket) => relative === bucket || relative.startsWith(`${bucket}/`)) ?? 'other'
}

/** Returns a function that counts a request and its duration until the response is closed, and logs it at level 3. */
export function requestMetrics(registry: MetricsRegistry, now: () => number, verbosity: Verbosity) {
  const running = new Map<string, { readonly values: readonly string[]; count: number }>()
  const total = registry.counter(
    'kubelet_http_requests_total',
    'Number of the http requests received since the server started',
    labels,
  )
  const duration = registry.histogram(
    'kubelet_http_requests_duration_seconds',
    'Duration in seconds to serve http requests',
    durationBuckets,
    labels,
  )
  registry.gauge('kubelet_http_inflight_requests', 'Number of the inflight http requests', labels, () =>
    [...running.values()].map(({ values, count }) => [values, count] as const),
  )
  return (
    { url = '', method = '' }: Pick<IncomingMessage, 'url' | 'method'>,
    until: EventEmitter,
    server: ServerType,
  ): void => {
    const path = metricsPath(url.split('?', 1)[0]!)
    const isLong = longRunning.has(path) || (path === 'containerLogs' && /[?&]follow=(true|1)/.test(url))
    const values = [String(isLong), methods.has(method) ? method : 'other', path, server]
    const key = values.join(' ')
    const entry = running.get(key) ?? { values, count: 0 }
    running.set(key, entry)
    entry.count++
    total(values).add()
    const start = now()
    until.once('close', () => {
      entry.count--
      const ms = now() - start
      duration(values).observe(ms / 1000)
      // Queries may have commands and secrets in them.
      verbosity.log(3, () => `HTTP verb=${method} URI=${url.split('?', 1)[0]} latency=${ms}ms`)
    })
  }
}
