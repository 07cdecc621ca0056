/** Metrics of policies, by upstream's names. */
import type { MetricsRegistry } from '../../../lib/metrics/registry.ts'
import { type ConditionMetrics, conditionMetrics } from '../matching/condition-metrics.ts'

export type ErrorType = 'no_error' | 'compile_error' | 'invalid_error' | 'out_of_budget_error'

export interface PolicyMetrics {
  readonly conditions: ConditionMetrics
  /** `action` is the result, such as `deny`. */
  checked(policy: string, binding: string, error: ErrorType, action: string, seconds: number): void
}

const buckets = [0.0000005, 0.001, 0.01, 0.1, 1]

/** `kind` is `validating` or `mutating`. */
export function policyMetrics(registry: MetricsRegistry, kind: 'validating' | 'mutating'): PolicyMetrics {
  const labels = ['policy', 'policy_binding', 'error_type', 'enforcement_action']
  const prefix = `apiserver_${kind}_admission_policy_check`
  const total = registry.counter(`${prefix}_total`, 'Policy checks, by result.', labels)
  const durations = registry.histogram(
    `${prefix}_duration_seconds`,
    'Duration of policy checks in seconds.',
    buckets,
    labels,
  )
  return {
    conditions: conditionMetrics(registry, 'policy', 'validate'),
    checked(policy, binding, error, action, seconds) {
      const values = [policy, binding, error, action]
      total(values).add()
      durations(values).observe(seconds)
    },
  }
}

/** Derives the type of an error from its message. */
export function errorType(failed: boolean, message: string): ErrorType {
  if (!failed) return 'no_error'
  if (message.startsWith('compilation error')) return 'compile_error'
  return message.includes('running out of cost budget') ? 'out_of_budget_error' : 'invalid_error'
}
