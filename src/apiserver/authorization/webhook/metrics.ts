/** Metrics of authorization webhooks and their match conditions, by upstream's names. */
import { defaultBuckets } from '../../../lib/metrics/buckets.ts'
import type { MetricsRegistry } from '../../../lib/metrics/registry.ts'

export type EvaluationResult = 'canceled' | 'timeout' | 'error' | 'success'

export interface WebhookMetrics {
  evaluated(name: string, result: EvaluationResult, seconds: number): void
  failedOpen(name: string, result: EvaluationResult): void
  matched(name: string, seconds: number): void
  matchFailed(name: string): void
  excluded(name: string): void
}

const matchDurations = [0.001, 0.005, 0.01, 0.025, 0.1, 0.2, 0.25]
const type = 'Webhook'

export function webhookMetrics(metrics: MetricsRegistry): WebhookMetrics {
  const evaluations = metrics.counter(
    'apiserver_authorization_webhook_evaluations_total',
    'Round-trips to authorization webhooks.',
    ['name', 'result'],
  )
  const seconds = metrics.histogram(
    'apiserver_authorization_webhook_duration_seconds',
    'Request latency in seconds.',
    defaultBuckets,
    ['name', 'result'],
  )
  const open = metrics.counter(
    'apiserver_authorization_webhook_evaluations_fail_open_total',
    'NoOpinion results due to webhook timeout or error.',
    ['name', 'result'],
  )
  const matchSeconds = metrics.histogram(
    'apiserver_authorization_match_condition_evaluation_seconds',
    'Authorization match condition evaluation time in seconds, split by authorizer type and name.',
    matchDurations,
    ['type', 'name'],
  )
  const matchErrors = metrics.counter(
    'apiserver_authorization_match_condition_evaluation_errors_total',
    'Total number of errors when an authorization webhook encounters a match condition error split by authorizer ' +
      'type and name.',
    ['type', 'name'],
  )
  const exclusions = metrics.counter(
    'apiserver_authorization_match_condition_exclusions_total',
    'Total number of exclusions when an authorization webhook is skipped because match conditions exclude it.',
    ['type', 'name'],
  )
  return {
    evaluated(name, result, took) {
      evaluations([name, result]).add()
      seconds([name, result]).observe(took)
    },
    failedOpen: (name, result) => open([name, result]).add(),
    matched: (name, took) => matchSeconds([type, name]).observe(took),
    matchFailed: (name) => matchErrors([type, name]).add(),
    excluded: (name) => exclusions([type, name]).add(),
  }
}
