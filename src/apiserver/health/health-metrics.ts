/**
 * What health checks have said, as `/metrics/slis` tells it (KEP-3466): of each check the last result, and how often it
 * had which.
 */
import { MetricsRegistry } from '../../lib/metrics/registry.ts'
import { type Response, text } from '../http/exchange.ts'

export interface HealthMetrics {
  /** A check was made as one of those of a path (`livez`). */
  checked(path: string, name: string, isWell: boolean): void
  page(): Response
}

/** They are no part of `/metrics`: who follows them asks every few seconds. */
export function healthMetrics(): HealthMetrics {
  const registry = new MetricsRegistry()
  const last = new Map<string, readonly [labels: readonly string[], result: number]>()
  registry.gauge(
    'kubernetes_healthcheck',
    'This metric records the result of a single healthcheck.',
    ['name', 'type'],
    () => last.values(),
  )
  const results = registry.counter(
    'kubernetes_healthchecks_total',
    'This metric records the results of all healthcheck.',
    ['name', 'status', 'type'],
  )
  return {
    checked(path, name, isWell) {
      last.set(`${path}/${name}`, [[name, path], isWell ? 1 : 0])
      results([name, isWell ? 'success' : 'error', path]).add()
    },
    page: () => text(200, registry.render(), { 'content-type': 'text/plain; version=0.0.4; charset=utf-8' }),
  }
}
