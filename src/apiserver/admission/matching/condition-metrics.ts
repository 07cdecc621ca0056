/** Metrics of the match conditions of webhooks and policies, by upstream's names. */
import type { MetricsRegistry } from '../../../lib/metrics/registry.ts'
import type { Operation } from '../../registry/write/admission.ts'

/** The metrics of one plug-in. */
export interface ConditionMetrics {
  /** `faults` is the number of conditions that failed to evaluate. */
  evaluated(name: string, operation: Operation, seconds: number, faults: number): void
  excluded(name: string, operation: Operation): void
}

const buckets = [0.001, 0.005, 0.01, 0.025, 0.1, 0.2, 0.25]
const labels = ['name', 'kind', 'type', 'operation']

const byRegistry = new WeakMap<MetricsRegistry, ReturnType<typeof make>>()

/** `type` is upstream's label for the plug-in: `validate` for all policies. */
export function conditionMetrics(
  registry: MetricsRegistry,
  kind: 'webhook' | 'policy',
  type: 'admit' | 'validating' | 'validate',
): ConditionMetrics {
  const { seconds, errors, exclusions } = byRegistry.get(registry) ?? make(registry)
  return {
    evaluated(name, operation, took, faults) {
      seconds([name, kind, type, operation]).observe(took)
      if (faults > 0) errors([name, kind, type, operation]).add(faults)
    },
    excluded: (name, operation) => exclusions([name, kind, type, operation]).add(),
  }
}

function make(registry: MetricsRegistry) {
  const prefix = 'apiserver_admission_match_condition'
  const metrics = {
    seconds: registry.histogram(
      `${prefix}_evaluation_seconds`,
      'Duration of match conditions in seconds.',
      buckets,
      labels,
    ),
    errors: registry.counter(`${prefix}_evaluation_errors_total`, 'Match conditions that failed.', labels),
    exclusions: registry.counter(`${prefix}_exclusions_total`, 'Requests that match conditions excluded.', labels),
  }
  byRegistry.set(registry, metrics)
  return metrics
}
