/**
 * Metrics of health checks for `/metrics/slis` (KEP-3466): the last result of each check, and a count of its results.
 */
import { MetricsRegistry } from '../../lib/metrics/registry.ts'
import { type Response, text } from '../http/exchange.ts'

export interface HealthMetrics {
  /** Records the result of a check of a path (`livez`). */
  checked(path: string, name: string, isHealthy: boolean): void
  page(): Response
}

/** They are not part of `/metrics`: clients scrape them every few seconds. */
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
    checked(path, name, isHealthy) {
      last.set(`${path}/${name}`, [[name, path], isHealthy ? 1 : 0])
      results([name, isHealthy ? 'success' : 'error', path]).add()
    },
    page: () => text(200, registry.render(), { 'content-type': 'text/plain; version=0.0.4; charset=utf-8' }),
  }
}
