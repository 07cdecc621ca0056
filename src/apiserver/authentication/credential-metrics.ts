/** Metrics of client certificates and service account tokens, by upstream's names. */
import type { MetricsRegistry } from '../../lib/metrics/registry.ts'
import type { Remaining } from './client-certificate.ts'
import type { TokenUse } from './service-accounts/index.ts'

const hour = 3600
const day = 24 * hour
const lives = [
  0,
  hour / 2,
  hour,
  2 * hour,
  6 * hour,
  12 * hour,
  day,
  2 * day,
  4 * day,
  7 * day,
  30 * day,
  90 * day,
  180 * day,
  360 * day,
]

/** Observes the remaining lifetime of client certificates. */
export function remainingLife(metrics: MetricsRegistry): Remaining {
  const name = 'apiserver_client_certificate_expiration_seconds'
  const life = metrics.histogram(
    name,
    'Distribution of the remaining lifetime on the certificate used to authenticate a request.',
    lives,
  )([])
  return (seconds) => life.observe(seconds)
}

/** Counts uses of service account tokens. */
export function tokenUses(metrics: MetricsRegistry): (use: TokenUse) => void {
  const counter = (name: string, what: string) =>
    metrics.counter(`serviceaccount_${name}_total`, `Cumulative ${what} used`)([])
  const uses: Readonly<Record<TokenUse, ReturnType<typeof counter>>> = {
    legacy: counter('legacy_tokens', 'legacy service account tokens'),
    'legacy of a manual secret': counter('legacy_manual_token_uses', 'manually created legacy tokens'),
    'legacy of a generated secret': counter('legacy_auto_token_uses', 'auto-generated legacy tokens'),
    'legacy marked invalid': counter('invalid_legacy_auto_token_uses', 'invalid auto-generated legacy tokens'),
    stale: counter('stale_tokens', 'stale projected service account tokens'),
    valid: counter('valid_tokens', 'valid projected service account tokens'),
  }
  return (use) => uses[use].add()
}
