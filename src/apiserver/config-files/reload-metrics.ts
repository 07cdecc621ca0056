/** Metrics of configuration reloads, by upstream's names. */
import { createHash } from 'node:crypto'
import { hostname } from 'node:os'
import type { MetricsRegistry } from '../../lib/metrics/registry.ts'

export interface ReloadMetrics {
  /** A configuration was loaded at the start. */
  loaded(text: string): void
  reloaded(text: string): void
  failed(): void
}

const labels = ['apiserver_id_hash', 'status'] as const

const hashOf = (text: string): string => `sha256:${createHash('sha256').update(text).digest('hex')}`

/** `subject` is the subject of the configuration. */
export function reloadMetrics(
  metrics: MetricsRegistry,
  subject: 'authentication' | 'authorization' | 'encryption',
): ReloadMetrics {
  const prefix = `apiserver_${subject}_config_controller`
  const server = hashOf(hostname())
  const times = new Map<'success' | 'failure', number>()
  let hash = ''
  const reloads = metrics.counter(
    `${prefix}_automatic_reloads_total`,
    subject === 'encryption'
      ? 'Total number of reload successes and failures of encryption configuration split by apiserver identity.'
      : `Total number of automatic reloads of ${subject} configuration split by status and apiserver identity.`,
    labels,
  )
  metrics.gauge(
    `${prefix}_automatic_reload_last_timestamp_seconds`,
    subject === 'encryption'
      ? 'Timestamp of the last successful or failed automatic reload of encryption configuration split by ' +
          'apiserver identity.'
      : `Timestamp of the last automatic reload of ${subject} configuration split by status and apiserver identity.`,
    labels,
    () => [...times].map(([status, at]) => [[server, status], at] as const),
  )
  metrics.gauge(
    `${prefix}_last_config_info`,
    `Information about the last applied ${subject} configuration with hash as label, split by apiserver identity.`,
    ['apiserver_id_hash', 'hash'],
    () => (hash ? [[[server, hash], 1] as const] : []),
  )
  const count = (status: 'success' | 'failure'): void => {
    reloads([server, status]).add()
    times.set(status, Date.now() / 1000)
  }
  return {
    loaded(text) {
      hash = hashOf(text)
    },
    reloaded(text) {
      hash = hashOf(text)
      count('success')
    },
    failed: () => count('failure'),
  }
}
