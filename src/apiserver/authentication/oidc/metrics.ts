/** Metrics of tokens of OpenID providers, by upstream's names. */
import { createHash } from 'node:crypto'
import { hostname } from 'node:os'
import { defaultBuckets } from '../../../lib/metrics/buckets.ts'
import type { MetricsRegistry } from '../../../lib/metrics/registry.ts'

export interface JwtMetrics {
  /** A token of the issuer was verified. `took` is in seconds. */
  verified(issuer: string, result: 'success' | 'failure', took: number): void
  /** The issuer's keys were fetched: their text, or undefined after a failure. */
  fetched(issuer: string, keys: string | undefined): void
}

const prefix = 'apiserver_authentication_jwt_authenticator'
const buckets = [0.001, ...defaultBuckets]

const hashOf = (text: string): string => `sha256:${createHash('sha256').update(text).digest('hex')}`

export function jwtMetrics(metrics: MetricsRegistry): JwtMetrics {
  const server = hashOf(hostname())
  const fetches = new Map<string, readonly [labels: readonly string[], seconds: number]>()
  const keySets = new Map<string, string>()
  const latency = metrics.histogram(
    `${prefix}_latency_seconds`,
    'Latency of jwt authentication operations in seconds. This is the time spent authenticating a token for ' +
      'cache miss only (i.e. when the token is not found in the cache).',
    buckets,
    ['jwt_issuer_hash', 'result'],
  )
  metrics.gauge(
    `${prefix}_jwks_fetch_last_timestamp_seconds`,
    'Timestamp of the last successful or failed JWKS fetch split by result, api server identity and jwt issuer ' +
      'for the JWT authenticator.',
    ['apiserver_id_hash', 'jwt_issuer_hash', 'result'],
    () => [...fetches.values()],
  )
  metrics.gauge(
    `${prefix}_jwks_fetch_last_key_set_info`,
    'Information about the last JWKS fetched by the JWT authenticator with hash as label, split by api server ' +
      'identity and jwt issuer.',
    ['apiserver_id_hash', 'hash', 'jwt_issuer_hash'],
    () => [...keySets].map(([issuer, hash]) => [[server, hash, issuer], 1] as const),
  )
  return {
    verified: (issuer, result, took) => latency([hashOf(issuer), result]).observe(took),
    fetched(issuer, keys) {
      const hash = hashOf(issuer)
      const result = keys === undefined ? 'failure' : 'success'
      fetches.set(`${hash} ${result}`, [[server, hash, result], Date.now() / 1000])
      if (keys !== undefined) keySets.set(hash, hashOf(keys))
    },
  }
}
