/** What is counted of credentials that people and pods show, under upstream's names. */
import type { MetricsRegistry } from '../../lib/metrics/registry.ts'
import type { Remaining } from './client-certificate.ts'
import type { TokenUse } from './service-accounts/index.ts'

const hour = 3600
const day = 24 * hour
const lives = [0, hour / 2, hour, 2 * hour, 6 * hour, 12 * hour, day, 2 * day, 4 * day, 7 * day, 30 * day, 90 * day, 180 * day, 360 * day]

/** How long client certificates hold that were shown. */
export function remainingLife(metrics: MetricsRegistry): Remaining {
  const name = 'apiserver_client_certificate_expiration_seconds'
  const life = metrics.histogram(name, 'Distribution of the remaining lifetime on the certificate used to authenticate a request.', lives)([])
  return (seconds) => life.observe(seconds)
}

/** How often tokens of service accounts were used. */
export function tokenUses(metrics: MetricsRegistry): (use: TokenUse) => void {
  const counter = (use: TokenUse, what: string) => metrics.counter(`serviceaccount_${use}_tokens_total`, `Cumulative ${what} service account tokens used`)([])
  const uses = {
    legacy: counter('legacy', 'legacy'),
    stale: counter('stale', 'stale projected'),
    valid: counter('valid', 'valid projected'),
  }
  return (use) => uses[use].add()
}
