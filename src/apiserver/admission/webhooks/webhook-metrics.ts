/** Metrics of admission webhooks, by upstream's names. */
import type { MetricsRegistry } from '../../../lib/metrics/registry.ts'
import type { Operation } from '../../registry/write/admission.ts'

/** The two types as metrics name them. */
export type WebhookType = 'admit' | 'validating'

export interface Called {
  readonly name: string
  readonly type: WebhookType
  readonly operation: Operation
  readonly rejected: boolean
  /** The status code of the answer or of the error. */
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
/** Webhooks choose their own codes. Codes that are no HTTP status would make unlimited series. */
const maxCode = 600

const byRegistry = new WeakMap<MetricsRegistry, WebhookMetrics>()

/** Returns the metrics of a server, shared by mutating and validating webhooks. */
export function webhookMetrics(registry: MetricsRegistry): WebhookMetrics {
  const known = byRegistry.get(registry) ?? make(registry)
  byRegistry.set(registry, known)
  return known
}

function make(registry: MetricsRegistry): WebhookMetrics {
  const prefix = 'apiserver_admission_webhook'
  const durations = registry.histogram(
    `${prefix}_admission_duration_seconds`,
    'Duration of webhook calls in seconds, by name, type (validating or admit), operation and rejection.',
    buckets,
    ['name', 'type', 'operation', 'rejected'],
  )
  const rejections = registry.counter(
    `${prefix}_rejection_count`,
    'Requests rejected by a webhook or because a webhook call failed.',
    ['name', 'type', 'operation', 'error_type', 'rejection_code'],
  )
  const open = registry.counter(`${prefix}_fail_open_count`, 'Failed webhook calls that were ignored.', [
    'name',
    'type',
  ])
  const requests = registry.counter(`${prefix}_request_total`, 'Webhook calls, by status code.', [
    'name',
    'type',
    'operation',
    'code',
    'rejected',
  ])
  const bounded = (code: number): string => String(Math.min(code, maxCode))
  return {
    called({ name, type, operation, rejected, code, seconds }) {
      durations([name, type, operation, String(rejected)]).observe(seconds)
      requests([name, type, operation, bounded(code), String(rejected)]).add()
    },
    rejected: (name, type, operation, cause, code) => rejections([name, type, operation, cause, bounded(code)]).add(),
    failedOpen: (name, type) => open([name, type]).add(),
  }
}
