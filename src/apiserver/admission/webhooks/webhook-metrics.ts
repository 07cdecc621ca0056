/** What is counted of webhooks, by upstream's names. */
import type { MetricsRegistry } from '../../../lib/metrics/registry.ts'
import type { Operation } from '../../registry/write/admission.ts'

/** As metrics call the two kinds. */
export type WebhookType = 'admit' | 'validating'

export interface Called {
  readonly name: string
  readonly type: WebhookType
  readonly operation: Operation
  readonly rejected: boolean
  /** Of the answer, or of the error that came instead. */
  readonly code: number
  readonly seconds: number
}

export type RejectionCause = 'calling_webhook_error' | 'apiserver_internal_error' | 'no_error'

export interface WebhookMetrics {
  called(call: Called): void
  rejected(name: string, type: WebhookType, operation: Operation, cause: RejectionCause, code: number): void
  failedOpen(name: string, type: WebhookType): void
}

const buckets = [0.005, 0.025, 0.1, 0.5, 1, 2.5, 10, 25]
/** Codes are the webhooks' own: what is no status code of HTTP would make series without end. */
const mostCode = 600

const made = new WeakMap<MetricsRegistry, WebhookMetrics>()

/** The same for both kinds of webhooks of a server. */
export function webhookMetrics(registry: MetricsRegistry): WebhookMetrics {
  const known = made.get(registry) ?? make(registry)
  made.set(registry, known)
  return known
}

function make(registry: MetricsRegistry): WebhookMetrics {
  const prefix = 'apiserver_admission_webhook'
  const durations = registry.histogram(
    `${prefix}_admission_duration_seconds`,
    'Time that webhooks take, by name, type (validating or admit), operation, and whether the request was rejected.',
    buckets,
    ['name', 'type', 'operation', 'rejected'],
  )
  const rejections = registry.counter(
    `${prefix}_rejection_count`,
    'Requests that webhooks have rejected, and those that failed because one failed.',
    ['name', 'type', 'operation', 'error_type', 'rejection_code'],
  )
  const open = registry.counter(`${prefix}_fail_open_count`, 'Calls that failed and were ignored.', ['name', 'type'])
  const requests = registry.counter(`${prefix}_request_total`, 'Calls of webhooks, by the code of the answer.', [
    'name',
    'type',
    'operation',
    'code',
    'rejected',
  ])
  const bounded = (code: number): string => String(Math.min(code, mostCode))
  return {
    called({ name, type, operation, rejected, code, seconds }) {
      durations([name, type, operation, String(rejected)]).observe(seconds)
      requests([name, type, operation, bounded(code), String(rejected)]).add()
    },
    rejected: (name, type, operation, cause, code) => rejections([name, type, operation, cause, bounded(code)]).add(),
    failedOpen: (name, type) => open([name, type]).add(),
  }
}
