/** Metrics of the kubelet's certificates, with upstream's names. */
import type { MetricsRegistry } from '../../lib/metrics/registry.ts'
import { certificateOf, type KeyPair } from './key-pair.ts'

/** Called by a managed certificate. */
export interface CertificateCounts {
  /** A new pair is in use. */
  changed(pair: KeyPair): void
  failed(): void
}

/** Bounds in seconds, from a minute to four years. */
const hour = 3600
const day = 24 * hour
const rotationBuckets = [60, hour, 4 * hour, ...[1, 7, 30, 90, 180, 360, 1440].map((days) => days * day)]

/** Metrics of the client certificate. Registered once. */
export function clientCertificateMetrics(metrics: MetricsRegistry, now: () => number): CertificateCounts {
  let current: KeyPair | undefined
  const help = "Gauge of the TTL (time-to-live) of the Kubelet's client certificate. "
  metrics.gauge('kubelet_certificate_manager_client_ttl_seconds', `${help}${ttlHelp('client')}`, [], () => [
    [[], ttl(current, now())],
  ])
  const errors = metrics.counter(
    'kubelet_certificate_manager_client_expiration_renew_errors',
    'Counter of certificate renewal errors.',
  )([])
  return {
    changed(pair) {
      current = pair
    },
    failed: () => errors.add(),
  }
}

/** Metrics of the serving certificate. Registered once. */
export function servingCertificateMetrics(metrics: MetricsRegistry, now: () => number): CertificateCounts {
  let current: KeyPair | undefined
  const help = "Gauge of the shortest TTL (time-to-live) of the Kubelet's serving certificate. "
  metrics.gauge('kubelet_certificate_manager_server_ttl_seconds', `${help}${ttlHelp('serving')}`, [], () => [
    [[], ttl(current, now())],
  ])
  const age = metrics.histogram(
    'kubelet_certificate_manager_server_rotation_seconds',
    'Histogram of the number of seconds the previous certificate lived before being rotated.',
    rotationBuckets,
  )([])
  const errors = metrics.counter('kubelet_server_expiration_renew_errors', 'Counter of certificate renewal errors.')([])
  return {
    changed(pair) {
      if (current) age.observe((now() - certificateOf(current).validFromDate.getTime()) / 1000)
      current = pair
    },
    failed: () => errors.add(),
  }
}

const ttlHelp = (kind: string): string =>
  'The value is in seconds until certificate expiry (negative if already expired). ' +
  `If ${kind} certificate is invalid or unused, the value will be +INF.`

/** Seconds until a certificate expires. */
const ttl = (pair: KeyPair | undefined, now: number): number =>
  pair ? Math.floor((certificateOf(pair).validToDate.getTime() - now) / 1000) : Number.POSITIVE_INFINITY
