/** What is counted of answers about tokens that are kept, by upstream's names; it says nothing of what they are. */
import { usualBuckets } from '../../../lib/metrics/buckets.ts'
import type { MetricsRegistry } from '../../../lib/metrics/registry.ts'

export interface TokenCacheMetrics {
  /** Somebody wanted to know, from `start` (ms of `performance.now()`) until now. */
  answered(status: 'hit' | 'miss', start: number): void
  /** So many begin or cease to wait for an answer. */
  waiting(by: number): void
  /** An authenticator is asked. */
  asking(): void
  /** It has answered; not well where it refuses the token with a reason. */
  asked(status: 'ok' | 'error'): void
}

export function tokenCacheMetrics(metrics: MetricsRegistry): TokenCacheMetrics {
  const prefix = 'authentication_token_cache'
  const active = { blocked: 0, in_flight: 0 }
  const requests = metrics.counter(`${prefix}_request_total`, '', ['status'])
  const durations = metrics.histogram(`${prefix}_request_duration_seconds`, '', usualBuckets, ['status'])
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
    asking() {
      active.in_flight++
    },
    asked(status) {
      active.in_flight--
      fetches([status]).add()
    },
  }
}
