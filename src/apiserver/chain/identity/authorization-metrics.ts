/** Metrics of authorization decisions, under upstream's names. */

import type { CounterSeries, HistogramSeries, MetricsRegistry } from '../../../lib/metrics/registry.ts'
import type { Decision } from '../../authorization/authorizer.ts'

/** Counts a decision that took `ms` milliseconds. */
export type AuthorizationMetrics = (decision: Decision, ms: number) => void

/** In seconds: 1 ms, doubled fourteen times. */
const durations = Array.from({ length: 15 }, (_, power) => 0.001 * 2 ** power)

interface Tally {
  readonly attempts: CounterSeries
  readonly duration: HistogramSeries
}

export function authorizationMetrics(metrics: MetricsRegistry, filter: HistogramSeries): AuthorizationMetrics {
  const attempts = metrics.counter(
    'authorization_attempts_total',
    "Counter of authorization attempts broken down by result. It can be either 'allowed', 'denied', 'no-opinion' " +
      "or 'error'.",
    ['result'],
  )
  const duration = metrics.histogram(
    'authorization_duration_seconds',
    'Authorization duration in seconds broken out by result.',
    durations,
    ['result'],
  )
  const tallies = new Map<string, Tally>()
  return ({ verdict, evaluationError }, ms) => {
    const result =
      verdict === 'allow' ? 'allowed' : evaluationError ? 'error' : verdict === 'deny' ? 'denied' : 'no-opinion'
    let tally = tallies.get(result)
    if (!tally) tallies.set(result, (tally = { attempts: attempts([result]), duration: duration([result]) }))
    tally.attempts.add()
    tally.duration.observe(ms / 1000)
    filter.observe(ms / 1000)
  }
}
