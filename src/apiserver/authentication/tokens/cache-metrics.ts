/** Metrics of the token cache, by upstream's names. They contain no tokens. */
import { defaultBuckets } from '../../../lib/metrics/buckets.ts'
import type { MetricsRegistry } from '../../../lib/metrics/registry.ts'

export interface TokenCacheMetrics {
  /** A token was looked up since `start` (ms of `performance.now()`). */
  answered(status: 'hit' | 'miss', start: number): void
  /** Changes the number of lookups that wait for an authenticator. */
  waiting(by: number): void
  /** A call of an authenticator begins. */
  fetchStarted(): void
  /** A call of an authenticator has ended; `error` if it rejected the token with a reason. */
  fetchEnded(status: 'ok' | 'error'): void
}

export function tokenCacheMetrics(metrics: MetricsRegistry): TokenCacheMetrics {
  const prefix = 'authentication_token_cache'
  const active = { blocked: 0, in_flight: 0 }
  const requests = metrics.counter(`${prefix}_request_total`, '', ['status'])
  const durations = metrics.histogram(`${prefix}_request_duration_seconds`, '', defaultBuckets, ['status'])
  const fetches = metrics.counter(`${prefix}_fetch_total`, '', ['status'])
  metrics.gauge(`${prefix}_active_fetch_count`, '', ['status'], () =>
    Object.entries(active).map(([status, count]) => [[status], count] as const),
  )
  return {
    answered(status, start) {
      requests([status]).add()
      durations([status]).observe(Math.floor(performance.now() - start) / 1000)
    },
    waiting(by) {
      active.blocked += by
    },
    fetchStarted() {
      active.in_flight++
    },
    fetchEnded(status) {
      active.in_flight--
      fetches([status]).add()
    },
  }
}
