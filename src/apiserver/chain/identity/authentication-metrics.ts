/** What the server counts about who asks, under upstream's names. */
import type { CounterSeries, HistogramSeries, MetricsRegistry } from '../../../lib/metrics/registry.ts'

/** `failure`: nobody was told; `error`: credentials do not hold. */
export type AuthenticationResult = 'success' | 'failure' | 'error'

/** Counts a request that took `ms` milliseconds to authenticate; `user` is told of those that are. */
export type AuthenticationMetrics = (result: AuthenticationResult, ms: number, user?: string) => void

/** Seconds: 1 ms and fourteen times twice as long. */
const durations = Array.from({ length: 15 }, (_, power) => 0.001 * 2 ** power)

/** Names that are told as they are: all others could be too many. */
const known: readonly string[] = [
  'admin',
  'client',
  'kube_proxy',
  'kubelet',
  'system:serviceaccount:kube-system:default',
]

interface Tally {
  readonly attempts: CounterSeries
  readonly duration: HistogramSeries
}

export function authenticationMetrics(metrics: MetricsRegistry, filter: HistogramSeries): AuthenticationMetrics {
  const requests = metrics.counter(
    'authenticated_user_requests',
    'Counter of authenticated requests broken out by username.',
    ['username'],
  )
  const attempts = metrics.counter('authentication_attempts', 'Counter of authenticated attempts.', ['result'])
  const duration = metrics.histogram(
    'authentication_duration_seconds',
    'Authentication duration in seconds broken out by result.',
    durations,
    ['result'],
  )
  const tallyOf = (result: AuthenticationResult): Tally => ({
    attempts: attempts([result]),
    duration: duration([result]),
  })
  const tallies: Partial<Record<AuthenticationResult, Tally>> = {}
  const byName: Record<string, CounterSeries> = {}
  return (result, ms, user) => {
    const tally = (tallies[result] ??= tallyOf(result))
    tally.attempts.add()
    tally.duration.observe(ms / 1000)
    filter.observe(ms / 1000)
    if (user === undefined) return
    const name = known.includes(user) ? user : user.includes('@') ? 'email_id' : 'other'
    ;(byName[name] ??= requests([name])).add()
  }
}
