/** Metrics of authentication, under upstream's names. */
import type { CounterSeries, HistogramSeries, MetricsRegistry } from '../../../lib/metrics/registry.ts'

/** `failure`: no authenticator knew the user; `error`: the credentials are invalid. */
export type AuthenticationResult = 'success' | 'failure' | 'error'

/** Counts a request that took `ms` milliseconds to authenticate; `user` is given on success. */
export type AuthenticationMetrics = (result: AuthenticationResult, ms: number, user?: string) => void

/** In seconds: 1 ms, doubled fourteen times. */
const durations = Array.from({ length: 15 }, (_, power) => 0.001 * 2 ** power)

/** User names that are used as label values: others could be too many. */
const knownUsers: readonly string[] = [
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
    const name = knownUsers.includes(user) ? user : user.includes('@') ? 'email_id' : 'other'
    ;(byName[name] ??= requests([name])).add()
  }
}
